#include "xla_core/client/testing/partitioned.h"

#include <gtest/gtest.h>

#include <cstring>

#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

std::vector<Sharding> read_shardings(const std::string& text, const Shape& shape, int64_t devices) {
  std::vector<int64_t> ranks;
  for (const Shape* leaf : leaves_of(shape)) ranks.push_back(static_cast<int64_t>(leaf->dims.size()));
  std::vector<Sharding> out;
  for (const Annotation& a : parse_sharding(text, ranks, devices)) out.push_back(a.sharding);
  return out;
}

// Quarters are exact; integers are small, some of them negative.
Literal counting(const Shape& shape) {
  Literal out(shape);
  for (int64_t k = 0; k < out.size(); ++k) {
    if (shape.dtype == DType::kF32)
      out.set_double(k, 0.25 * static_cast<double>(k * 7 % 13) - 1);
    else
      out.set_int(k, k * 7 % 13 - 2);
  }
  return out;
}

// What the devices that hold summands of device d's tile hold together.
Literal added_up(const std::vector<std::vector<Literal>>& got, size_t result, const Sharding& s, int64_t d) {
  if (s.summands == 1) return got[d][result];
  for (const DeviceList& group : s.summand_groups()) {
    if (std::find(group.begin(), group.end(), d) == group.end()) continue;
    Literal sum(got[d][result].shape());
    for (int64_t member : group)
      for (int64_t k = 0; k < sum.size(); ++k)
        sum.set_double(k, sum.get_double(k) + got[member][result].get_double(k));
    return sum;
  }
  return {};
}

}  // namespace

Literal tile_of(const Literal& whole, const Sharding& s, int64_t device) {
  Literal out(s.local(whole.shape()));
  const Dims tile = s.coordinates(device);
  const int64_t size = byte_size(whole.shape().dtype);
  for (int64_t n = 0; n < out.size(); ++n) {
    int64_t rest = n, from = 0, stride = 1;
    for (size_t d = s.tiles.size(); d-- > 0;) {
      const int64_t extent = out.shape().dims[d];
      from += (rest % extent + tile[d] * extent) * stride;
      stride *= whole.shape().dims[d];
      rest /= extent;
    }
    std::memcpy(out.bytes() + n * size, whole.bytes() + from * size, static_cast<size_t>(size));
  }
  if (s.summands == 1) return out;
  for (int64_t n = 0; n < out.size(); ++n) {
    double rest = out.get_double(n);
    for (int64_t k = 1; k < s.summands; ++k) rest -= static_cast<double>((n + k) % 5);
    const int64_t mine = s.summand_of[device];
    out.set_double(n, mine == 0 ? rest : static_cast<double>((n + mine) % 5));
  }
  return out;
}

Sharding sharding_of(const Instruction* parameter, int64_t devices) {
  return read_shardings(parameter->attrs().raw(Attr::sharding), parameter->shape(), devices)[0];
}

std::vector<Sharding> result_shardings(const Module& m) {
  return read_shardings(m.result_sharding, m.entry()->root()->shape(), m.num_partitions);
}

std::string expect_same(const std::string& header, const std::string& body, int64_t devices,
                        const std::vector<std::string>& results) {
  auto whole_module = parse("HloModule m" + header + "\n" + body);
  const auto one = Executable::compile(std::move(whole_module));
  std::vector<Argument> arguments;
  for (const Shape& s : one->program().parameter_shapes) arguments.push_back({counting(s), false});
  const std::vector<Literal> expected = one->execute(arguments);

  auto module = parse("HloModule m, num_partitions=" + std::to_string(devices) + header + "\n" + body);
  const auto many = Executable::compile(std::move(module));
  std::vector<std::vector<Argument>> cut(devices);
  const auto& parameters = many->module().entry()->parameters();
  for (size_t p = 0; p < parameters.size(); ++p)
    for (int64_t d = 0; d < devices; ++d)
      cut[d].push_back({tile_of(arguments[p].value, sharding_of(parameters[p], devices), d), false});
  const auto got = many->execute_on_devices(cut);
  const std::vector<Sharding> sharded = result_shardings(many->module());
  EXPECT_EQ(sharded.size(), results.size());
  if (sharded.size() != results.size()) return many->as_text();
  for (size_t r = 0; r < results.size(); ++r) {
    EXPECT_EQ(to_string(sharded[r]), results[r]) << many->as_text();
    for (int64_t d = 0; d < devices; ++d) {
      const Literal want = tile_of(expected[r], sharded[r].added(), d);
      const Literal have = added_up(got, r, sharded[r], d);
      EXPECT_EQ(have.shape().dims, want.shape().dims);
      if (have.shape().dims != want.shape().dims) return many->as_text();
      for (int64_t k = 0; k < want.size(); ++k)
        EXPECT_NEAR(have.get_double(k), want.get_double(k), 1e-5)
            << "device " << d << " result " << r << " element " << k << "\n"
            << many->as_text();
    }
  }
  return many->as_text();
}

int64_t count_in(const std::string& text, const std::string& what) {
  int64_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace armillary
