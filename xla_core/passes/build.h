// Builds instructions in front of one instruction, with the ops as functions.
#pragma once

#include <vector>

#include "xla_core/hlo/module.h"

namespace armillary {

// What is built inherits the metadata of the instruction it is built for, and a row-major layout when that
// one has a layout.
class Build {
 public:
  explicit Build(Instruction* before);

  Instruction* add(Op op, std::vector<Instruction*> operands, Attrs attrs = {});  // inferred shape
  Instruction* add(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs = {});
  Instruction* clone(const Instruction& i, std::vector<Instruction*> operands);

  Instruction* constant(Literal literal);
  Instruction* scalar(DType dtype, double value);
  Instruction* scalar_int(DType dtype, int64_t value);
  Instruction* splat(const Shape& shape, double value);  // a broadcast scalar, or the scalar itself
  Instruction* splat(const Shape& shape, Instruction* scalar);

  Instruction* broadcast(Instruction* x, Dims dims, Dims dimensions);
  Instruction* reshape(Instruction* x, Dims dims);  // x itself when nothing changes
  Instruction* transpose(Instruction* x, Dims permutation);
  Instruction* convert(Instruction* x, DType dtype);  // x itself when nothing changes
  Instruction* slice(Instruction* x, Slices slices);
  Instruction* pad(Instruction* x, Instruction* value, Padding padding);
  Instruction* concatenate(std::vector<Instruction*> xs, int64_t dimension);
  Instruction* reverse(Instruction* x, Dims dimensions);
  Instruction* iota(Shape shape, int64_t dimension);
  Instruction* compare(const char* direction, Instruction* x, Instruction* y);
  Instruction* select(Instruction* p, Instruction* x, Instruction* y);
  Instruction* element(Instruction* tuple, int64_t index);
  Instruction* tuple(std::vector<Instruction*> elements);
  Instruction* reduce(Op op, Instruction* x, double init, Dims dimensions);
  Instruction* dynamic_slice(Instruction* x, std::vector<Instruction*> starts, Dims sizes);
  Instruction* dynamic_update_slice(Instruction* x, Instruction* update, std::vector<Instruction*> starts);

  Computation* computation() const { return before_->parent(); }
  Module& module() const { return *before_->module(); }
  // (x, y) -> op(x, y) on scalars.
  Computation* scalar_body(Op op, DType dtype);

 private:
  Shape laid_out(Shape shape) const;
  Instruction* finish(Instruction* i) const;

  Instruction* before_;
  bool has_layout_;
};

Attrs with(Attr attr, AttrValue value);

}  // namespace armillary
