// A chip is a row of constants, each with its public source or the word "assumed".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace armillary::sim {

struct Constant {
  double value = 0;
  std::string source;                // begins with "assumed" where no public source says it
  std::optional<double> prior = {};  // of a fitted constant: what it was before, on the word of the source

  bool assumed() const { return source.starts_with("assumed"); }
};

// One column of the table of chips.
struct ChipKey {
  std::string_view name;  // as a TOML file writes it
  std::string_view unit;
  std::string_view doc;
  double smallest, largest;
  bool whole;  // integers only
};

// A name and one constant for each of chip_keys(), in that order.
class Chip {
 public:
  Chip(std::string name,
       std::vector<Constant> constants);  // throws a user error on a value out of its key's range

  const std::string& name() const { return name_; }
  const std::vector<Constant>& constants() const { return constants_; }
  double operator[](std::string_view key) const { return constant(key).value; }
  const Constant& constant(std::string_view key) const;

  // Extents of the largest torus, without trailing ones; empty where chips have no links.
  std::vector<int> pod() const;

 private:
  void check_together() const;

  std::string name_;
  std::vector<Constant> constants_;
};

std::span<const ChipKey> chip_keys();
std::span<const Chip> chips();  // v1 to v7x

// Throws a user error that lists the names there are.
const Chip& find_chip(std::string_view name);

}  // namespace armillary::sim
