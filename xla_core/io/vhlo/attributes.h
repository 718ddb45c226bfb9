// The tables of attributes and types. Entries are decoded when they are first asked for; each dialect has its
// own code numbers.
#pragma once

#include "xla_core/io/vhlo/ir.h"
#include "xla_core/io/vhlo/sections.h"

namespace armillary::vhlo {

class Attributes {
 public:
  Attributes(const Sections& sections, Ir& ir);

  const Attribute* attribute(uint64_t index);
  const Type* type(uint64_t index);

  // What encodings are made of.
  const Attribute* read_attribute(ByteReader& in) { return attribute(in.varint()); }
  const Attribute* read_optional(ByteReader& in);  // nullptr when absent
  const Type* read_type(ByteReader& in) { return type(in.varint()); }
  std::vector<const Attribute*> read_attributes(ByteReader& in);
  std::vector<const Type*> read_types(ByteReader& in);
  std::string_view read_bytes(ByteReader& in) { return sections_.string(in.varint()); }
  std::string_view read_string(ByteReader& in) { return sections_.text(in.varint()); }
  // Tuples may share their elements in the file, but not in memory.
  void spend_leaves(size_t n);

 private:
  template <class T>
  struct Entry {
    std::string_view dialect;
    ByteReader data;
    bool custom = false;  // encoded by the dialect, not as text
    bool open = false;    // being decoded
    const T* done = nullptr;
  };
  template <class T>
  void read_entries(ByteReader& offsets, ByteReader& data, std::vector<Entry<T>>& entries);
  template <class T, class Decode>
  const T* decoded(std::vector<Entry<T>>& entries, uint64_t index, std::string_view what, Decode decode);

  const Sections& sections_;
  Ir& ir_;
  std::vector<Entry<Attribute>> attributes_;
  std::vector<Entry<Type>> types_;
  int depth_ = 0;
  size_t leaves_ = 0;
};

// One decoder a dialect; `out` is empty.
void decode_builtin(ByteReader& in, Attributes& table, Attribute& out);
void decode_vhlo(ByteReader& in, Attributes& table, Attribute& out);
void decode_sdy(ByteReader& in, Attributes& table, Attribute& out);
void decode_builtin(ByteReader& in, Attributes& table, Type& out);
void decode_vhlo(ByteReader& in, Attributes& table, Type& out);
void decode_quantized(ByteReader& in, Attributes& table, bool per_axis, Type& out);

// Shared by dialects.
Dims read_signed_list(ByteReader& in);
int64_t read_integer(ByteReader& in, const Type& type);  // extended as the type's sign says
int64_t read_float_bits(ByteReader& in, const Type& type);
double read_double(ByteReader& in);
void become_tensor(Type& type, Dims dims, const Type* element, const Attribute* encoding);
// Both dialects write these alike.
void decode_tensor_type(ByteReader& in, Attributes& table, Type& out, const Attribute* encoding);
void decode_sub_axis(ByteReader& in, Attribute& out);
void decode_function_type(ByteReader& in, Attributes& table, Type& out);
void become_element(Type& type, DType dtype);
void become_complex(Type& type, const Type* part);
void become_tuple(Attributes& table, Type& type, std::vector<const Type*> items);
// A dictionary's entry must be named by a string.
const Attribute* named(const Attribute* name);

}  // namespace armillary::vhlo
