// Fusions and single instructions through kernels and LLVM, against the interpreter.
#include "xla_core/backends/cpu/run_lowering.h"

namespace armillary::cpu {
namespace {

// A module around a fusion whose body is `body` over these parameters.
std::string fusion(const std::string& parameters, const std::string& body, const std::string& result,
                   const std::string& more = "") {
  std::string text = "HloModule m\n" + more + "\nbody {\n" + body + "}\nENTRY e {\n";
  std::string names, line;
  int n = 0;
  std::string rest = parameters;
  while (!rest.empty()) {
    const size_t cut = rest.find(' ');
    text +=
        "  p" + std::to_string(n) + " = " + rest.substr(0, cut) + " parameter(" + std::to_string(n) + ")\n";
    names += (n ? ", p" : "p") + std::to_string(n);
    ++n;
    rest = cut == std::string::npos ? "" : rest.substr(cut + 1);
  }
  return text + "  ROOT f = " + result + " fusion(" + names + "), kind=kLoop, calls=body\n}\n";
}

const char* kAdd = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n";
const char* kMax = "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n";

TEST(Lowering, elementwise_chains_of_any_length) {
  for (int n : {1, 3, 16, 63, 64, 65, 1000, 4096, 10000, 12345}) {
    const std::string s = "f32[" + std::to_string(n) + "]";
    check_module(fusion(s + " " + s,
                        "a = " + s + " parameter(0)\n b = " + s + " parameter(1)\n c = " + s +
                            " add(a, b)\n ROOT d = " + s + " multiply(c, a)\n",
                        s));
  }
}

TEST(Lowering, broadcasts_of_rows_columns_and_scalars) {
  for (auto [r, c] : {std::pair(5, 7), {64, 256}, {33, 1000}, {1000, 3}, {3, 10000}, {2, 50257}}) {
    const std::string R = std::to_string(r), C = std::to_string(c), s = "f32[" + R + "," + C + "]";
    check_module(fusion(
        s + " f32[" + C + "] f32[" + R + "] f32[]",
        "a = " + s + " parameter(0)\n b = f32[" + C + "] parameter(1)\n c = f32[" + R +
            "] parameter(2)\n d = f32[] parameter(3)\n"
            "bb = " +
            s + " broadcast(b), dimensions={1}\n cc = " + s + " broadcast(c), dimensions={0}\n dd = " + s +
            " broadcast(d), dimensions={}\n"
            "x = " +
            s + " add(a, bb)\n y = " + s + " multiply(x, cc)\n ROOT z = " + s + " subtract(y, dd)\n",
        s));
  }
}

TEST(Lowering, transposes_reshapes_and_slices) {
  check_module(
      "ENTRY e { p = f32[37,53] parameter(0)\n ROOT t = f32[53,37] transpose(p), dimensions={1,0} }");
  check_module(
      "ENTRY e { p = f32[4,6,8,10] parameter(0)\n ROOT t = f32[8,4,10,6] transpose(p), dimensions={2,0,3,1} "
      "}");
  check_module(
      "ENTRY e { p = s8[4,6,8,64] parameter(0)\n ROOT t = s8[4,8,6,64] transpose(p), dimensions={0,2,1,3} }");
  check_module(
      "ENTRY e { p = f64[40,60] parameter(0)\n ROOT t = f64[10,20] slice(p), slice={[3:33:3],[40:60]} }");
  check_module("ENTRY e { p = f32[40,60] parameter(0)\n ROOT t = f32[40,60] reverse(p), dimensions={1} }");
  check_module("ENTRY e { p = f32[40,60] parameter(0)\n ROOT t = f32[40,60] reverse(p), dimensions={0} }");
  check_module("ENTRY e { ROOT t = s32[40,60] iota(), iota_dimension=1 }");
  check_module("ENTRY e { ROOT t = f32[40,60] iota(), iota_dimension=0 }");
  check_module(fusion("f32[6,35]",
                      "a = f32[6,35] parameter(0)\n r = f32[2,3,5,7] reshape(a)\n t = f32[5,2,7,3] "
                      "transpose(r), dimensions={2,0,3,1}\n"
                      "u = f32[10,21] reshape(t)\n ROOT n = f32[10,21] negate(u)\n",
                      "f32[10,21]"));
  check_module(fusion("f32[6] f32[4,9]",
                      "a = f32[6] parameter(0)\n b = f32[4,9] parameter(1)\n r = f32[2,3] reshape(a)\n c = "
                      "f32[2,2,3,3] broadcast(r), dimensions={0,2}\n"
                      "d = f32[36] reshape(c)\n f = f32[36] reshape(b)\n ROOT n = f32[36] add(d, f)\n",
                      "f32[36]"));
}

TEST(Lowering, pads_and_concatenations) {
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[13,41] pad(p, z), "
      "padding=1_2x1_1_1 }");
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[7,22] pad(p, z), "
      "padding=-1_-2x4_-2 }");
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[7,34] pad(p, z), "
      "padding=-1_-2x-2_-2_1 }");
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n q = f32[10,3] parameter(1)\n ROOT t = f32[10,43] "
      "concatenate(p, q, p), dimensions={1} }");
  check_module(
      "ENTRY e { p = c64[10,20] parameter(0)\n q = c64[3,20] parameter(1)\n ROOT t = c64[13,20] "
      "concatenate(p, q), dimensions={0} }");
  check_module(fusion(
      "f32[10,20] f32[10,3]",
      "a = f32[10,20] parameter(0)\n b = f32[10,3] parameter(1)\n c = f32[10,23] concatenate(a, b), "
      "dimensions={1}\n"
      "z = f32[] constant(1.5)\n d = f32[12,25] pad(c, z), padding=1_1x0_2\n ROOT n = f32[12,25] negate(d)\n",
      "f32[12,25]"));
}

TEST(Lowering, dynamic_slices_updates_and_gathers) {
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n i = s32[] parameter(1)\n j = s32[] parameter(2)\n ROOT t = "
      "f32[3,16] dynamic-slice(p, i, j), dynamic_slice_sizes={3,16} }");
  check_module(
      "ENTRY e { p = f32[10,20] parameter(0)\n u = f32[3,16] parameter(1)\n i = s32[] parameter(2)\n j = "
      "s32[] parameter(3)\n ROOT t = f32[10,20] dynamic-update-slice(p, u, i, j) }");
  check_module(fusion("f32[10,64] s32[]",
                      "p = f32[10,64] parameter(0)\n i = s32[] parameter(1)\n z = s32[] constant(0)\n s = "
                      "f32[2,64] dynamic-slice(p, i, z), dynamic_slice_sizes={2,64}\n"
                      "d = f32[2,64] add(s, s)\n ROOT u = f32[10,64] dynamic-update-slice(p, d, i, z)\n",
                      "f32[10,64]"));
  check_module(fusion("f32[10,64] s32[]",
                      "p = f32[10,64] parameter(0)\n i = s32[] parameter(1)\n z = s32[] constant(0)\n s = "
                      "f32[2,64] slice(p), slice={[1:3],[0:64]}\n"
                      "d = f32[2,64] add(s, s)\n ROOT u = f32[10,64] dynamic-update-slice(p, d, i, z)\n",
                      "f32[10,64]"));
  check_module(
      "ENTRY e { p = f32[10,32] parameter(0)\n i = s32[7,1] parameter(1)\n ROOT t = f32[7,32] gather(p, i), "
      "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
      "slice_sizes={1,32} }");
  check_module(
      "ENTRY e { p = f32[1000] parameter(0)\n i = s32[70,1] parameter(1)\n ROOT t = f32[70] gather(p, i), "
      "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }");
}

TEST(Lowering, several_results_and_constant_arrays) {
  check_module(fusion("f32[100]",
                      "a = f32[100] parameter(0)\n b = f32[100] negate(a)\n c = s32[100] convert(a)\n ROOT t "
                      "= (f32[100], s32[100], f32[100]) tuple(b, c, a)\n",
                      "(f32[100], s32[100], f32[100])"));
  check_module(
      fusion("f32[4]",
             "a = f32[4] parameter(0)\n k = f32[4] constant({1, 2, 3, 4})\n ROOT b = f32[4] multiply(a, k)\n",
             "f32[4]"));
}

TEST(Lowering, reductions_of_rows) {
  for (auto [r, c] : {std::pair(5, 7),
                      {64, 256},
                      {33, 1000},
                      {1000, 3},
                      {3, 100000},
                      {1, 65536},
                      {2, 50257},
                      {70, 64},
                      {1, 17}}) {
    const std::string R = std::to_string(r), C = std::to_string(c);
    const std::string head = "ENTRY e { p = f32[" + R + "," + C +
                             "] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[" + R +
                             "] reduce(p, z), dimensions={1}, to_apply=";
    check_module(kAdd + head + "add }", 1e-5, 2e-5);
    check_module(kMax + head + "max }");
  }
}

TEST(Lowering, reductions_of_columns) {
  for (auto [r, c] : {std::pair(5, 7),
                      {64, 256},
                      {1000, 33},
                      {1000, 3},
                      {3, 1000},
                      {2000, 1000},
                      {5000, 64},
                      {300, 3000},
                      {40000, 16},
                      {100000, 1}}) {
    const std::string R = std::to_string(r), C = std::to_string(c);
    const std::string head = "ENTRY e { p = f32[" + R + "," + C +
                             "] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[" + C +
                             "] reduce(p, z), dimensions={0}, to_apply=";
    check_module(kAdd + head + "add }", 1e-5, 2e-5);
    check_module(kMax + head + "max }");
  }
}

TEST(Lowering, reductions_of_many_dimensions) {
  for (const char* what :
       {"f32[7] reduce(p, z), dimensions={0,2,3}", "f32[5,6] reduce(p, z), dimensions={1,3}",
        "f32[] reduce(p, z), dimensions={0,1,2,3}", "f32[5,9] reduce(p, z), dimensions={1,2}",
        "f32[7,9] reduce(p, z), dimensions={0,2}", "f32[5,7,6,9] reduce(p, z), dimensions={}"})
    check_module(std::string(kAdd) +
                     "ENTRY e { p = f32[5,7,6,9] parameter(0)\n z = f32[] parameter(1)\n ROOT t = " + what +
                     ", to_apply=add }",
                 1e-5, 1e-3);
  for (const char* what :
       {"f32[64] reduce(p, z), dimensions={0,2,3}", "f32[32,64] reduce(p, z), dimensions={2,3}",
        "f32[56,56] reduce(p, z), dimensions={0,1}"})
    check_module(std::string(kAdd) +
                     "ENTRY e { p = f32[32,64,56,56] parameter(0)\n z = f32[] parameter(1)\n ROOT t = " +
                     what + ", to_apply=add }",
                 1e-4, 3e-2);
}

TEST(Lowering, reductions_with_producers_and_what_follows) {
  check_module(fusion("f32[48,300] f32[300] f32[]",
                      "p = f32[48,300] parameter(0)\n q = f32[300] parameter(1)\n z = f32[] parameter(2)\n b "
                      "= f32[48,300] broadcast(q), dimensions={1}\n m = f32[48,300] multiply(p, b)\n"
                      "r = f32[48] reduce(m, z), dimensions={1}, to_apply=add\n s = f32[48] reduce(p, z), "
                      "dimensions={1}, to_apply=max\n d = f32[48] subtract(r, s)\n"
                      "ROOT t = (f32[48], f32[48]) tuple(d, r)\n",
                      "(f32[48], f32[48])", std::string(kAdd) + kMax),
               2e-5);
  check_module(
      fusion("bf16[48,300] bf16[]",
             "p = bf16[48,300] parameter(0)\n z = bf16[] parameter(1)\n c = f32[48,300] convert(p)\n zz = "
             "f32[] convert(z)\n"
             "r = f32[48] reduce(c, zz), dimensions={1}, to_apply=add\n ROOT d = bf16[48] convert(r)\n",
             "bf16[48]", kAdd),
      1e-2);
}

TEST(Lowering, argmax_finds_the_first_of_the_largest) {
  const std::string combiner =
      "am { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] "
      "parameter(3)\n g = pred[] compare(a, b), direction=GT\n e = pred[] compare(a, b), direction=EQ\n"
      "l = pred[] compare(i, j), direction=LT\n k = pred[] and(e, l)\n o = pred[] or(g, k)\n v = f32[] "
      "select(o, a, b)\n w = s32[] select(o, i, j)\n ROOT t = (f32[], s32[]) tuple(v, w) }\n";
  for (const char* dims : {"1", "0"})
    for (auto [r, c] : {std::pair(5, 7), {64, 256}, {33, 1000}, {1000, 3}, {5000, 100}, {1, 100000}}) {
      const std::string R = std::to_string(r), C = std::to_string(c), s = "[" + R + "," + C + "]",
                        o = std::string("[") + (*dims == '1' ? R : C) + "]";
      check_module(fusion("f32" + s,
                          "p = f32" + s + " parameter(0)\n i = s32" + s + " iota(), iota_dimension=" + dims +
                              "\n m = f32[] constant(-inf)\n z = s32[] constant(2147483647)\n"
                              "ROOT r = (f32" +
                              o + ", s32" + o + ") reduce(p, i, m, z), dimensions={" + dims +
                              "}, to_apply=am\n",
                          "(f32" + o + ", s32" + o + ")", combiner));
    }
}

// Sums of squares are no monoid: parts must not be combined with what combines elements, and the initial
// value comes first.
TEST(Lowering, computations_that_do_not_associate_see_the_elements_one_by_one) {
  const std::string squares =
      "sq { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] multiply(b, b)\n d = f32[] "
      "multiply(a, a)\n e = f32[] add(c, d)\n f = f32[] sqrt(e)\n h = f32[] constant(0.5)\n ROOT g = f32[] "
      "subtract(f, h) }\n";
  for (const char* dims : {"0", "1", "0,1"})
    for (auto [r, c] : {std::pair(5, 7), {1, 3000}, {3000, 1}, {2000, 1000}, {40, 5000}}) {
      const std::string result = *dims == '0' ? (dims[1] == ',' ? "" : std::to_string(c)) : std::to_string(r);
      check_module(squares + "ENTRY e { p = f32[" + std::to_string(r) + "," + std::to_string(c) +
                       "] parameter(0)\n z = f32[] constant(3)\n ROOT t = f32[" + result +
                       "] reduce(p, z), dimensions={" + dims + "}, to_apply=sq }",
                   1e-5, 1e-5);
    }
}

TEST(Lowering, cumulative_windows_are_running_sums) {
  for (const char* window :
       {"size=1x50 pad=0_0x49_0", "size=1x50 pad=0_0x0_49", "size=6x1 pad=0_5x0_0", "size=6x1 pad=5_0x0_0"})
    for (const char* result : {"negate", "convert"})
      check_module(fusion("f32[6,50]",
                          std::string("p = f32[6,50] parameter(0)\n z = f32[] constant(0)\n q = f32[6,50] "
                                      "multiply(p, p)\n w = f32[6,50] reduce-window(q, z), window={") +
                              window + "}, to_apply=add\n ROOT t = f32[6,50] " + result + "(w)\n",
                          "f32[6,50]", kAdd),
                   1e-5);
  check_module(std::string(kAdd) +
                   "ENTRY e { p = f32[3,9,3] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[3,9,3] "
                   "reduce-window(p, z), window={size=1x9x1 pad=0_0x8_0x0_0}, to_apply=add }",
               1e-5);
}

TEST(Lowering, transposes_in_tiles) {
  for (const char* s : {"100,200", "33,65", "8,8", "1000,9", "31,1000", "64,128"}) {
    const std::string dims = s, r = dims.substr(0, dims.find(',')), c = dims.substr(dims.find(',') + 1),
                      t = "[" + c + "," + r + "]";
    for (const char* d : {"f32", "s8", "c64", "bf16", "f64", "pred"})
      check_module("ENTRY e { p = " + std::string(d) + "[" + dims + "] parameter(0)\n ROOT t = " + d + t +
                   " transpose(p), dimensions={1,0} }");
    check_module(fusion("f32[" + dims + "] f32" + t + " f32[" + r + "]",
                        "p = f32[" + dims + "] parameter(0)\n q = f32" + t + " parameter(1)\n v = f32[" + r +
                            "] parameter(2)\n n = f32[" + dims + "] abs(p)\n t = f32" + t +
                            " transpose(n), dimensions={1,0}\n b = f32" + t +
                            " broadcast(v), dimensions={1}\n s = f32" + t + " subtract(t, q)\n ROOT u = f32" +
                            t + " multiply(s, b)\n",
                        "f32" + t));
  }
  check_module(
      "ENTRY e { p = f32[5,20,30,40] parameter(0)\n ROOT t = f32[5,40,20,30] transpose(p), "
      "dimensions={0,3,1,2} }");
  check_module(
      "ENTRY e { p = f32[5,20,30,40] parameter(0)\n ROOT t = f32[40,30,20,5] transpose(p), "
      "dimensions={3,2,1,0} }");
}

TEST(Lowering, windows) {
  check_module(
      std::string(kMax) +
      "ENTRY e { p = f32[2,17,19,8] parameter(0)\n z = f32[] constant(-inf)\n ROOT t = f32[2,9,10,8] "
      "reduce-window(p, z), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_1x1_1x0_0}, to_apply=max }");
  check_module(std::string(kAdd) +
                   "ENTRY e { p = f32[6,50] parameter(0)\n z = f32[] constant(0)\n ROOT t = f32[6,50] "
                   "reduce-window(p, z), window={size=1x50 pad=0_0x49_0}, to_apply=add }",
               1e-5);
  check_module(std::string(kAdd) +
                   "ENTRY e { p = f32[6,50] parameter(0)\n z = f32[] constant(0)\n ROOT t = f32[6,50] "
                   "reduce-window(p, z), window={size=6x1 pad=0_5x0_0}, to_apply=add }",
               1e-5);
  check_module(std::string(kAdd) +
                   "ENTRY e { p = f32[30,50] parameter(0)\n z = f32[] parameter(1)\n ROOT t = f32[15,46] "
                   "reduce-window(p, z), window={size=3x3 stride=4x2 pad=1_0x0_0 lhs_dilate=2x2 "
                   "rhs_dilate=1x3}, to_apply=add }",
               1e-5);
}

}  // namespace
}  // namespace armillary::cpu
