// Names and kinds of attributes from attr.def, and the sorted map an instruction keeps them in.
#include "xla_core/ops/attr.h"

#include <algorithm>
#include <charconv>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

struct AttrInfo {
  std::string_view name;
  AttrKind kind;
};

constexpr AttrInfo kTable[] = {
#define ARM_ATTR(id, text, kind) {text, AttrKind::kind},
#include "xla_core/ops/attr.def"
#undef ARM_ATTR
};

const std::vector<std::pair<std::string_view, Attr>>& by_name() {
  static const auto sorted = [] {
    std::vector<std::pair<std::string_view, Attr>> all;
    for (size_t i = 0; i < std::size(kTable); ++i) all.emplace_back(kTable[i].name, static_cast<Attr>(i));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return sorted;
}

bool before(const std::pair<Attr, AttrValue>& entry, Attr a) { return entry.first < a; }

// The value as T, or nullptr when absent; a wrong kind is our own mistake, because the parser reads by kind.
template <class T>
const T* get(const Attrs& attrs, Attr a) {
  const AttrValue* value = attrs.find(a);
  if (value == nullptr) return nullptr;
  const T* typed = std::get_if<T>(value);
  if (typed == nullptr)
    throw internal_error("attribute {} holds another kind of value than asked for", to_string(a));
  return typed;
}

template <class T>
const T& require(const Attrs& attrs, Attr a) {
  const T* value = get<T>(attrs, a);
  if (value == nullptr) throw internal_error("attribute {} is missing", to_string(a));
  return *value;
}

template <class T>
const T& or_empty(const Attrs& attrs, Attr a) {
  static const T empty{};
  const T* value = get<T>(attrs, a);
  return value ? *value : empty;
}

}  // namespace

AttrKind kind_of(Attr attr) { return kTable[static_cast<int>(attr)].kind; }
std::string_view to_string(Attr attr) { return kTable[static_cast<int>(attr)].name; }

bool attr_from_name(std::string_view name, Attr* attr) {
  const auto& all = by_name();
  auto it = std::lower_bound(all.begin(), all.end(), name,
                             [](const auto& entry, std::string_view n) { return entry.first < n; });
  if (it == all.end() || it->first != name) return false;
  *attr = it->second;
  return true;
}

const AttrValue* Attrs::find(Attr a) const {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), a, before);
  return it != entries_.end() && it->first == a ? &it->second : nullptr;
}

void Attrs::set(Attr a, AttrValue value) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), a, before);
  if (it != entries_.end() && it->first == a)
    it->second = std::move(value);
  else
    entries_.emplace(it, a, std::move(value));
}

void Attrs::erase(Attr a) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), a, before);
  if (it != entries_.end() && it->first == a) entries_.erase(it);
}

bool Attrs::flag(Attr a, bool fallback) const {
  const bool* value = get<bool>(*this, a);
  return value ? *value : fallback;
}

int64_t Attrs::integer(Attr a) const { return require<int64_t>(*this, a); }
int64_t Attrs::integer(Attr a, int64_t fallback) const {
  const int64_t* value = get<int64_t>(*this, a);
  return value ? *value : fallback;
}

double Attrs::real(Attr a) const { return require<double>(*this, a); }
const std::string& Attrs::text(Attr a) const { return require<std::string>(*this, a); }
std::string Attrs::text(Attr a, std::string fallback) const {
  const std::string* value = get<std::string>(*this, a);
  return value ? *value : fallback;
}

const Dims& Attrs::ints(Attr a) const { return or_empty<Dims>(*this, a); }
const Window& Attrs::window(Attr a) const { return or_empty<Window>(*this, a); }
const ConvDims& Attrs::conv_dims() const { return require<ConvDims>(*this, Attr::dim_labels); }
const Slices& Attrs::slices() const { return require<Slices>(*this, Attr::slice); }
const Padding& Attrs::padding() const { return require<Padding>(*this, Attr::padding); }
const std::string& Attrs::raw(Attr a) const {
  static const std::string empty;
  const RawText* value = get<RawText>(*this, a);
  return value ? value->text : empty;
}

Computation* Attrs::callee(Attr a) const {
  Computation* const* value = get<Computation*>(*this, a);
  return value ? *value : nullptr;
}

const std::vector<Computation*>& Attrs::callees(Attr a) const {
  return or_empty<std::vector<Computation*>>(*this, a);
}

Dims parse_int_list(std::string_view braced) {
  auto fail = [&] { return user_error("\"{}\" is not a list of integers in braces", braced); };
  std::string_view rest = braced;
  auto skip_spaces = [&] {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  };
  auto eat = [&](char c) {
    skip_spaces();
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  };
  Dims numbers;
  if (!eat('{')) throw fail();
  if (eat('}')) return numbers;
  do {
    skip_spaces();
    int64_t number = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc()) throw fail();
    rest.remove_prefix(end - rest.data());
    numbers.push_back(number);
  } while (eat(','));
  if (!eat('}')) throw fail();
  skip_spaces();
  if (!rest.empty()) throw fail();
  return numbers;
}

}  // namespace armillary
