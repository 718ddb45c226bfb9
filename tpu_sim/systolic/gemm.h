// What a systolic array is asked to do: C[M,N] = A[M,K] B[K,N] on R x C processing elements, under one of
// three flows.
#pragma once

#include <cstdint>
#include <string_view>

namespace armillary::sim {

using Cycles = int64_t;

// Which matrix stays in the processing elements while the others move.
enum class Dataflow : uint8_t {
  kWeightStationary,  // B: rows hold K, columns hold N; A streams, sums move down
  kOutputStationary,  // C: rows hold M, columns hold N; A and B stream, sums are shifted out at the end
  kInputStationary,   // A: rows hold K, columns hold M; B streams, sums move down
};

// How one tile follows another.
enum class Overlap : uint8_t {
  kNone,   // load, stream, drain, and only then the next tile
  kTiles,  // the next tile is loaded while this one streams, and follows without a gap: a TPU's way
};

Dataflow dataflow_from_name(std::string_view name);  // "ws", "os", "is"
std::string_view to_string(Dataflow flow);

struct Gemm {
  int64_t m = 1, n = 1, k = 1;
};

struct ArrayShape {
  int64_t rows = 128, cols = 128;
};

// A GEMM cut into tiles that fill the array; partial tiles cost as much as full ones.
struct Tiling {
  int64_t row_tiles = 0;  // tiles over the dimension that the rows hold
  int64_t col_tiles = 0;
  int64_t streamed = 0;  // vectors that pass through each tile

  int64_t tiles() const { return row_tiles * col_tiles; }
};

// Throws a user error unless every extent is positive and no count below can overflow.
Tiling tile(const Gemm& gemm, const ArrayShape& array, Dataflow flow);

}  // namespace armillary::sim
