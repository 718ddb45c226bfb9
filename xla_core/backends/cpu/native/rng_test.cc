#include "xla_core/backends/cpu/native/rng.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// What XLA's CPU back end gives for key 0x89abcdef01234567 and counter 0xfffffffffffffffe.
struct Known {
  RngAlgorithm algorithm;
  DType dtype;
  Dims dims;
  uint64_t counter;  // of the new state
  std::vector<uint64_t> bits;
};
constexpr RngAlgorithm kThreeFry = RngAlgorithm::kThreeFry, kPhilox = RngAlgorithm::kPhilox;

const Known kKnown[] = {
    {kThreeFry, DType::kU32, {}, 0xffffffffffffffff, {0xf4d122d7}},
    {kThreeFry, DType::kU32, {5}, 1, {0xf4d122d7, 0xd1c0e4da, 0xe3732ff6, 0xdeb4932e, 0x4d884901}},
    {kThreeFry,
     DType::kU32,
     {3, 3},
     4,
     {0xf4d122d7, 0xe3732ff6, 0x4d884901, 0xd1c0e4da, 0xdeb4932e, 0xdc0e5397, 0xb275c909, 0xa7064d77,
      0x5ae05a17}},
    {kThreeFry, DType::kS16, {3, 2}, 1, {0x22d7, 0xe4da, 0x2ff6, 0x932e, 0x4901, 0x5397}},
    {kThreeFry, DType::kU8, {4}, 0, {0xd7, 0xda, 0xf6, 0x2e}},
    {kThreeFry, DType::kU64, {3}, 1, {0xd1c0e4daf4d122d7, 0xdeb4932ee3732ff6, 0xdc0e53974d884901}},
    {kPhilox, DType::kU32, {5}, 0, {0x42542950, 0x67fb32d2, 0xe6d9b168, 0xae23570, 0xd0360758}},
    {kPhilox, DType::kU64, {3}, 0, {0x67fb32d242542950, 0xae23570e6d9b168, 0x1f329702d0360758}},
    {kPhilox, DType::kU8, {3, 2}, 0, {0x50, 0xd2, 0x68, 0x70, 0x58, 0x2}},
};

TEST(Rng, numbers_and_states_are_those_of_xla) {
  for (const Known& k : kKnown) {
    Array state(DType::kU64, {2}), after(DType::kU64, {2}), bits(k.dtype, k.dims);
    state.as<uint64_t>()[0] = 0x89abcdef01234567;
    state.as<uint64_t>()[1] = 0xfffffffffffffffe;
    rng_bit_generator(k.algorithm, state.ref(), after.ref(), bits.ref());
    EXPECT_EQ(after.as<uint64_t>()[0], 0x89abcdef01234567);
    EXPECT_EQ(after.as<uint64_t>()[1], k.counter);
    const int width = bit_width(k.dtype);
    for (int64_t i = 0; i < bits.size(); ++i) {
      const uint64_t got = static_cast<uint64_t>(bits.literal().get_int(i)) &
                           (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1);
      EXPECT_EQ(got, k.bits[i]) << to_string(k.dtype) << " element " << i;
    }
  }
}

TEST(Rng, states_continue_and_threads_do_not_matter) {
  for (RngAlgorithm algorithm : {kThreeFry, kPhilox}) {
    Array state(DType::kU64, {algorithm == kPhilox ? 3 : 2}), whole(DType::kU32, {100000}),
        first(DType::kU32, {40000}), second(DType::kU32, {60000});
    state.as<uint64_t>()[0] = 77;
    Array next(DType::kU64, state.dims()), last(DType::kU64, state.dims());
    set_num_threads(1);
    rng_bit_generator(algorithm, state.ref(), last.ref(), whole.ref());
    set_num_threads(5);
    rng_bit_generator(algorithm, state.ref(), next.ref(), first.ref());
    rng_bit_generator(algorithm, next.ref(), next.ref(), second.ref());
    EXPECT_EQ(0, std::memcmp(whole.ref().data, first.ref().data, 160000));
    EXPECT_EQ(0, std::memcmp(whole.ref().data + 160000, second.ref().data, 240000));
  }
}

}  // namespace
}  // namespace armillary::native
