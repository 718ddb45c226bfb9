// What a memory-bound loop reads is brought into VMEM beside the loop before it, where that one leaves the
// memory idle.
#pragma once

#include <map>

#include "xla_core/backends/tpu/lower.h"

namespace armillary::tpu {

class Prefetch {
 public:
  Prefetch(const sim::Chip& chip, int64_t vmem_free);

  // The command at this place of the list is a loop with these reads.
  void note_loop(size_t command, HbmReads reads) { readers_[command] = std::move(reads); }
  // The value is there when so many commands have run; it is at least as late as what it is made of.
  void note_value(const Instruction& i, size_t commands);

  // Inserts copies and waits where they make the pair of loops faster.
  Commands run(Commands commands, int& next_handle) const;

 private:
  int64_t bytes_before(const HbmReads& reads, size_t command) const;
  bool try_prefetch(const Commands& commands, size_t n, int64_t held, sim::FusedLoop& loop,
                    int64_t* bytes) const;

  const sim::Chip& chip_;
  int64_t vmem_free_;
  std::map<size_t, HbmReads> readers_;
  std::unordered_map<const Instruction*, size_t> made_;
};

}  // namespace armillary::tpu
