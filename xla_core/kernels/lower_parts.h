// What the lowerings of the different kinds of root have in common.
#pragma once

#include "xla_core/kernels/elements.h"
#include "xla_core/kernels/nest.h"

namespace armillary::kernels {

// One kernel being written.
struct KernelWriter {
  KernelWriter(const Site& site, Lowering& lowering);
  // Stores the result of root `leaf` at `linear`.
  void store(int64_t leaf, Val linear, Val value);
  // Computes all roots at `index` and stores them there.
  void store_roots(const Index& index);
  void finish();  // hands the kernel over to the lowering

  const Site& site;
  Lowering& lowering;
  LoweredKernel out;
  KernelBuilder b;
  Elements elements;
};

// Operations an element of the site's roots, roughly.
double cost_of(const Site& site);

void lower_loop(const Site& site, Lowering& lowering);         // one element of every root per iteration
void lower_concatenate(const Site& site, Lowering& lowering);  // a kernel a piece
void lower_pad(const Site& site, Lowering& lowering);          // fill, then copy
void lower_update(const Site& site, Lowering& lowering);       // dynamic-update-slice in place
void lower_reduce(const Site& site, Lowering& lowering);
bool is_scan(const Site& site);
void lower_scan(const Site& site, Lowering& lowering);  // running values
bool is_turned(const Site& site);
void lower_transpose(const Site& site, Lowering& lowering);  // in tiles

}  // namespace armillary::kernels
