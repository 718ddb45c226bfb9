// Which devices meet in a collective.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "xla_core/hlo/instruction.h"

namespace armillary {

using DeviceList = std::vector<int64_t>;
class Scanner;

// 0, 1, 2, ... in an array of `dims`, transposed and read in order. read_device_order reads `<=[4,2]T(1,0)`,
// without the arrow if `arrow` is false.
DeviceList transposed_iota(const DeviceList& dims, const DeviceList& permutation);
DeviceList read_device_order(Scanner& in, bool arrow = true);

// `{{0,1},{2,3}}`, `[2,4]<=[4,2]T(1,0)` or `mesh['x'=2,'y'=4] {'y'}` as lists of ids, as written: what an id
// counts depends on the collective. Throws a user error on anything else, or on more than 2^20 ids.
std::vector<DeviceList> parse_replica_groups(std::string_view text);

// The same as devices (replica * num_partitions + partition): each group of those that exchange values, in
// the order of their ranks. Every device is in one group at most; an op without groups has all in one. Throws
// a user error that names the instruction when a device does not exist or comes twice.
std::vector<DeviceList> device_groups(const Instruction& collective);

// source_target_pairs of a collective-permute as devices.
std::vector<std::pair<int64_t, int64_t>> device_pairs(const Instruction& permute);

}  // namespace armillary
