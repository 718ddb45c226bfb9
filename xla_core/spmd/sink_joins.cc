// op(join(x)) = join(op(x)), one function a family of ops. Each gives nullptr where it does not hold.
#include <algorithm>

#include "xla_core/spmd/boundaries.h"

namespace armillary {
namespace {

class Sinker {
 public:
  Sinker(Marks& marks, Instruction* i) : marks_(marks), i_(i), b_(i) {}

  Instruction* run() {
    if (i_->is(Op::custom_call)) return call_on_tiles();
    if (i_->shape().is_tuple() && !i_->is(Op::reduce)) return nullptr;
    if (i_->has(kElementwise)) return elementwise();
    const Sharding* s = i_->num_operands() > 0 ? tiles_of(i_->operand(0)) : nullptr;
    switch (i_->op()) {
      case Op::broadcast:
        return s ? broadcast(*s) : nullptr;
      case Op::transpose:
        return s ? transpose(*s) : nullptr;
      case Op::reduce:
        return s ? reduce(*s) : nullptr;
      case Op::dot:
        return dot();
      default:
        return nullptr;
    }
  }

 private:
  // Of summands only sums could be taken; we do not.
  const Sharding* tiles_of(const Instruction* x) const {
    const Sharding* s = marks_.joined(x);
    return s && s->summands == 1 ? s : nullptr;
  }

  Instruction* finish(std::vector<Instruction*> operands, const Sharding& s) {
    Instruction* tile = b_.clone(*i_, std::move(operands));
    tile->set_shape(s.local(i_->shape()));
    return marks_.join(b_, tile, s, i_->shape());
  }

  Instruction* elementwise() {
    const Sharding* s = nullptr;
    for (const Instruction* o : i_->operands())
      if (const Sharding* here = tiles_of(o); here && o->dims() == i_->dims() && !s) s = here;
    if (!s) return nullptr;
    const Sharding sharding = *s;  // the table moves when marks are added
    std::vector<Instruction*> operands;
    for (Instruction* o : i_->operands()) {
      if (o->dims() != i_->dims() && !o->dims().empty()) return nullptr;
      operands.push_back(o->dims() == i_->dims() ? marks_.cut(b_, o, sharding) : o);
    }
    return finish(std::move(operands), sharding);
  }

  Instruction* broadcast(const Sharding& from) {
    const Dims& to = i_->attrs().ints(Attr::dimensions);
    const auto rank = static_cast<int64_t>(i_->dims().size());
    Dims tiles(rank, 1);
    for (size_t d = 0; d < to.size(); ++d) tiles[to[d]] = from.tiles[d];
    const Sharding s = from.mapped(tiles, [&](const Dims& c) {
      Dims out(rank, 0);
      for (size_t d = 0; d < to.size(); ++d) out[to[d]] = c[d];
      return out;
    });
    return finish({i_->operand(0)->operand(0)}, s);
  }

  Instruction* transpose(const Sharding& from) {
    const Dims& permutation = i_->attrs().ints(Attr::dimensions);
    auto permuted = [&](const Dims& c) {
      Dims out;
      for (int64_t d : permutation) out.push_back(c[d]);
      return out;
    };
    return finish({i_->operand(0)->operand(0)}, from.mapped(permuted(from.tiles), permuted));
  }

  // A Python function without results that every device calls with what it holds.
  Instruction* call_on_tiles() {
    const bool wanted = i_->attrs().text(Attr::custom_call_target) == kPartitionedCallback;
    if (!wanted || !leaves_of(i_->shape()).empty()) return nullptr;
    std::vector<Instruction*> operands(i_->operands().begin(), i_->operands().end());
    bool cut = false;
    for (Instruction*& o : operands)
      if (tiles_of(o)) cut = true, o = o->operand(0);
    return cut ? b_.clone(*i_, std::move(operands)) : nullptr;
  }

  // Along whole dimensions only; several arrays must be cut alike.
  Instruction* reduce(const Sharding& from) {
    const Dims& gone = i_->attrs().ints(Attr::dimensions);
    const int64_t arrays = i_->num_operands() / 2;
    for (int64_t k = 0; k < arrays; ++k)
      if (const Sharding* s = marks_.joined(i_->operand(k)); !s || !(*s == from)) return nullptr;
    for (int64_t d : gone)
      if (from.tiles[d] != 1) return nullptr;
    if (arrays > 1) return nullptr;
    auto kept = [&](const Dims& c) {
      Dims out;
      for (size_t d = 0; d < c.size(); ++d)
        if (std::find(gone.begin(), gone.end(), static_cast<int64_t>(d)) == gone.end()) out.push_back(c[d]);
      return out;
    };
    return finish({i_->operand(0)->operand(0), i_->operand(1)}, from.mapped(kept(from.tiles), kept));
  }

  // The result is cut as the first operand where that one is cut along batch and free dimensions; the second
  // gives the tiles of the same batches, and all of its own free dimensions. Or the other way round.
  Instruction* dot() {
    for (int side : {0, 1}) {
      const Sharding* s = tiles_of(i_->operand(side));
      if (!s) continue;
      const Sharding from = *s;
      const Dims& contracting =
          i_->attrs().ints(side == 0 ? Attr::lhs_contracting_dims : Attr::rhs_contracting_dims);
      if (std::any_of(contracting.begin(), contracting.end(), [&](int64_t d) { return from.tiles[d] != 1; }))
        continue;
      const Dims result = result_dims(side), other = other_dims(side);
      const Sharding whole = from.mapped(moved(from.tiles, result, i_->dims().size(), 1), [&](const Dims& c) {
        return moved(c, result, i_->dims().size(), 0);
      });
      const size_t other_rank = i_->operand(1 - side)->dims().size();
      const Sharding partner = from.mapped(moved(from.tiles, other, other_rank, 1),
                                           [&](const Dims& c) { return moved(c, other, other_rank, 0); });
      if (!partner.divides(i_->operand(1 - side)->shape())) continue;
      Instruction* mine = i_->operand(side)->operand(0);
      Instruction* theirs = marks_.cut(b_, i_->operand(1 - side), partner);
      return side == 0 ? finish({mine, theirs}, whole) : finish({theirs, mine}, whole);
    }
    return nullptr;
  }

  static Dims moved(const Dims& from, const Dims& to, size_t rank, int64_t fill) {
    Dims out(rank, fill);
    for (size_t d = 0; d < from.size(); ++d)
      if (to[d] >= 0) out[to[d]] = from[d];
    return out;
  }

  // For each dimension of an operand the result's, or -1: batches, then free ones of lhs, then of rhs.
  Dims result_dims(int side) const {
    const Attrs& a = i_->attrs();
    const Dims& batch = a.ints(side == 0 ? Attr::lhs_batch_dims : Attr::rhs_batch_dims);
    const Dims& contracting = a.ints(side == 0 ? Attr::lhs_contracting_dims : Attr::rhs_contracting_dims);
    const auto rank = static_cast<int64_t>(i_->operand(side)->dims().size());
    auto next = static_cast<int64_t>(batch.size());
    if (side == 1)
      next = static_cast<int64_t>(i_->dims().size()) -
             (rank - static_cast<int64_t>(batch.size() + contracting.size()));
    Dims out(rank, -1);
    for (size_t k = 0; k < batch.size(); ++k) out[batch[k]] = static_cast<int64_t>(k);
    for (int64_t d = 0; d < rank; ++d)
      if (out[d] < 0 && std::find(contracting.begin(), contracting.end(), d) == contracting.end())
        out[d] = next++;
    return out;
  }

  // For each dimension of an operand the other operand's: the same batch, or -1.
  Dims other_dims(int side) const {
    const Attrs& a = i_->attrs();
    const Dims& mine = a.ints(side == 0 ? Attr::lhs_batch_dims : Attr::rhs_batch_dims);
    const Dims& theirs = a.ints(side == 0 ? Attr::rhs_batch_dims : Attr::lhs_batch_dims);
    Dims out(i_->operand(side)->dims().size(), -1);
    for (size_t k = 0; k < mine.size(); ++k) out[mine[k]] = theirs[k];
    return out;
  }

  Marks& marks_;
  Instruction* i_;
  Build b_;
};

}  // namespace

void sink_joins(Module& m, Marks& marks) {
  for (Computation* c : m.reachable()) {
    for (Instruction* i : c->snapshot()) {
      if (marks.is_mark(i)) continue;
      Instruction* with = Sinker(marks, i).run();
      if (!with) continue;
      i->replace_all_uses_with(with);
      c->erase(i);
    }
  }
}

}  // namespace armillary
