// Counter-based generators (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), numbered as
// XLA numbers them.
#include <algorithm>
#include <array>
#include <numbers>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

using U128 = unsigned __int128;

uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint64_t joined(uint32_t lo, uint32_t hi) { return lo | uint64_t{hi} << 32; }

// Threefry-2x32 with 20 rounds.
std::array<uint32_t, 2> threefry(uint64_t counter, uint64_t key) {
  static constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {low(key), high(key), 0x1BD11BDAu ^ low(key) ^ high(key)};
  uint32_t x0 = low(counter) + keys[0], x1 = high(counter) + keys[1];
  for (uint32_t block = 0; block < 5; ++block) {
    for (int r : kRotations[block % 2]) {
      x0 += x1;
      x1 = (x1 << r | x1 >> (32 - r)) ^ x0;
    }
    x0 += keys[(block + 1) % 3];
    x1 += keys[(block + 2) % 3] + block + 1;
  }
  return {x0, x1};
}

// Philox-4x32 with 10 rounds.
std::array<uint32_t, 4> philox(U128 counter, uint64_t key) {
  uint32_t c[4] = {low(static_cast<uint64_t>(counter)), high(static_cast<uint64_t>(counter)),
                   low(static_cast<uint64_t>(counter >> 64)), high(static_cast<uint64_t>(counter >> 64))};
  uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0], p1 = uint64_t{0xCD9E8D57} * c[2];
    const uint32_t next[4] = {high(p1) ^ c[1] ^ k0, low(p1), high(p0) ^ c[3] ^ k1, low(p0)};
    std::copy(next, next + 4, c);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c[0], c[1], c[2], c[3]};
}

int64_t halved(int64_t n) { return n - n / 2; }

// Up to 32 bits an element come in pairs, the two of a pair side by side in one dimension: the first even
// one, else the largest.
void threefry_pairs(const Dims& dims, uint64_t key, uint64_t counter, std::vector<uint64_t>& bits,
                    uint64_t& used) {
  if (dims.empty()) {
    bits[0] = threefry(counter, key)[0];
    used = 1;
    return;
  }
  size_t split = dims.size();
  for (size_t d = 0; d < dims.size() && split == dims.size(); ++d)
    if (dims[d] % 2 == 0) split = d;
  if (split == dims.size())
    split = static_cast<size_t>(std::max_element(dims.begin(), dims.end()) - dims.begin());
  Dims half = dims;
  half[split] = halved(dims[split]);
  used = 0;
  Dims at;
  for_each_index(half, [&](std::span<const int64_t> index) {
    const auto pair = threefry(counter + used++, key);
    at.assign(index.begin(), index.end());
    for (int64_t side = 0; side < 2; ++side) {
      at[split] = 2 * index[split] + side;
      if (at[split] < dims[split]) bits[static_cast<size_t>(linear_index(dims, at))] = pair[side];
    }
  });
}

// `state` is key and counter, and is moved on.
std::vector<uint64_t> threefry_bits(const Shape& shape, std::vector<uint64_t>& state) {
  std::vector<uint64_t> bits(static_cast<size_t>(shape.num_elements()));
  uint64_t used = bits.size();
  if (bit_width(shape.dtype) == 64) {
    for (size_t k = 0; k < bits.size(); ++k) {
      const auto pair = threefry(state[1] + k, state[0]);
      bits[k] = joined(pair[0], pair[1]);
    }
  } else {
    threefry_pairs(shape.dims, state[0], state[1], bits, used);
  }
  state[1] += used;
  return bits;
}

// The counter has 128 bits; when the state holds only its low half, the key stands for the other.
std::vector<uint64_t> philox_bits(const Shape& shape, std::vector<uint64_t>& state) {
  std::vector<uint64_t> bits(static_cast<size_t>(shape.num_elements()));
  const uint64_t key = state[0];
  U128 counter = U128{state.size() > 2 ? state[2] : key} << 64 | state[1];
  const size_t per_block = bit_width(shape.dtype) == 64 ? 2 : 4;
  for (size_t begin = 0; begin < bits.size(); begin += per_block) {
    const auto block = philox(counter++, key);
    for (size_t k = 0; k < per_block && begin + k < bits.size(); ++k)
      bits[begin + k] = per_block == 4 ? block[k] : joined(block[2 * k], block[2 * k + 1]);
  }
  state[1] = static_cast<uint64_t>(counter);
  if (state.size() > 2) state[2] = static_cast<uint64_t>(counter >> 64);
  return bits;
}

// The state as 64-bit words, whatever words it is written in (low ones first), and back.
std::vector<uint64_t> read_state(const Literal& literal) {
  std::vector<uint64_t> words(static_cast<size_t>(literal.size_bytes()) / 8);
  std::memcpy(words.data(), literal.bytes(), words.size() * 8);
  return words;
}
Literal write_state(const Shape& shape, const std::vector<uint64_t>& words) {
  Literal literal(shape);
  std::memcpy(literal.bytes(), words.data(), words.size() * 8);
  return literal;
}

Literal rng_bit_generator(Evaluation&, const Instruction& i, Operands operands) {
  std::vector<uint64_t> state = read_state(operands[0]);
  const Shape& shape = i.shape().is_tuple() ? i.shape().tuple.back() : i.shape();
  const bool is_threefry = i.attrs().text(Attr::algorithm) == "rng_three_fry";
  if (state.size() < 2 || (is_threefry ? state.size() != 2 : state.size() > 3))
    throw user_error("{} is no state of {}", to_string(operands[0].shape()), i.attrs().text(Attr::algorithm));
  const std::vector<uint64_t> bits = is_threefry ? threefry_bits(shape, state) : philox_bits(shape, state);
  Literal result(shape);
  const uint64_t mask =
      bit_width(shape.dtype) == 64 ? ~uint64_t{0} : (uint64_t{1} << bit_width(shape.dtype)) - 1;
  std::vector<Lane> lanes(bits.size());
  for (size_t k = 0; k < bits.size(); ++k) lanes[k] = lane_of_bits(shape.dtype, bits[k] & mask);
  write_lanes(shape.dtype, result.bytes(), 0, result.size(), lanes.data(), nullptr);
  if (!i.shape().is_tuple()) return result;
  return Literal::make_tuple({write_state(i.shape().tuple[0], state), result});
}

// In [0, 1), 53 bits.
double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

double normal(const std::array<uint32_t, 4>& block) {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - unit(joined(block[0], block[1]))));
  return radius * std::cos(2 * std::numbers::pi * unit(joined(block[2], block[3])));
}

// The stateful generator: any numbers of the distribution are right, ours are the same in every run.
Literal rng(Evaluation& e, const Instruction& i, Operands operands) {
  Literal result(i.shape());
  const uint64_t seed = e.next_seed();
  const bool is_normal = i.attrs().text(Attr::distribution) == "rng_normal";
  for (int64_t k = 0; k < result.size(); ++k) {
    const auto block = philox(static_cast<U128>(k), seed);
    const uint64_t bits = joined(block[0], block[1]);
    if (is_integral(i.dtype())) {
      const uint64_t a = static_cast<uint64_t>(operands[0].get_int(0)),
                     range = static_cast<uint64_t>(operands[1].get_int(0)) - a;
      result.set_int(k, static_cast<int64_t>(range == 0 ? a : a + bits % range));
    } else {
      const double a = operands[0].get_double(0), b = operands[1].get_double(0);
      result.set_double(k, is_normal ? a + b * normal(block) : a + (b - a) * unit(bits));
      if (!is_normal && result.get_double(k) >= b) result.set_double(k, a);  // rounded up to the bound
    }
  }
  return result;
}

Literal rng_get_and_update_state(Evaluation& e, const Instruction& i, Operands) {
  return write_state(i.shape(), {e.next_seed(), 0});
}

}  // namespace

std::span<const HandlerRow> random_handlers() {
  static constexpr HandlerRow rows[] = {{Op::rng_bit_generator, rng_bit_generator},
                                        {Op::rng, rng},
                                        {Op::rng_get_and_update_state, rng_get_and_update_state}};
  return rows;
}

}  // namespace armillary
