// Places in the user's program as the metadata of instructions and the module's table of stack frames.
#pragma once

#include <map>
#include <tuple>
#include <unordered_map>

#include "xla_core/hlo/module.h"
#include "xla_core/io/vhlo/ir.h"

namespace armillary::vhlo {

// In the letters that a name may have in HLO, and not too many of them.
std::string name_of(std::string_view text);

struct Place {
  Metadata metadata;
  std::string name;  // what instructions made there are called; empty when the program does not say
};

class Places {
 public:
  explicit Places(StackFrames& frames) : frames_(frames) {}

  const Place& of_operation(const Attribute* location);
  // Of a block's argument: its name alone.
  Place of_argument(const Attribute* location) const;

 private:
  Place read(const Attribute& location);
  int64_t add_stack(const Attribute& location);
  int64_t add_frame(const Attribute& name, int64_t parent);

  StackFrames& frames_;
  std::unordered_map<const Attribute*, Place> known_;
  std::unordered_map<std::string_view, int64_t> files_, functions_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> locations_;
  std::map<std::pair<int64_t, int64_t>, int64_t> frame_ids_;
};

}  // namespace armillary::vhlo
