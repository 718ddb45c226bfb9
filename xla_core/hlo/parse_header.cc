// The head of a module: its attributes and the tables of stack frames.
#include "xla_core/hlo/parser.h"

namespace armillary {

void Parser::read_header() {
  module_->set_name(std::string(in_.name("the module's name")));
  in_.accept(':');  // old dumps end the name so
  while (in_.accept(',')) {
    const std::string_view name = in_.identifier("a module attribute");
    in_.expect('=', "after a module attribute");
    read_header_attribute(name);
  }
  read_stack_frames();
}

void Parser::read_header_attribute(std::string_view name) {
  const size_t begin = in_.next_position();
  if (name == "is_scheduled") {
    module_->is_scheduled = in_.boolean(name);
  } else if (name == "replica_count" || name == "num_partitions") {
    const int64_t count = in_.integer("a count");
    if (count < 1) throw in_.error(begin, "expected {} of at least 1, found {}", name, count);
    (name == "replica_count" ? module_->replica_count : module_->num_partitions) = count;
  } else if (name == "input_output_alias") {
    read_aliases();
  } else if (name == "buffer_donor") {
    read_donors();
  } else if (name == "entry_computation_layout") {
    read_entry_layout();
  } else if (name == "frontend_attributes") {
    const size_t value = in_.next_position();
    module_->frontend_attributes = in_.balanced("frontend attributes");
    check_raw(in_, value, Attr::frontend_attributes, {module_->frontend_attributes, false});
  } else {
    const RawText raw = read_raw(in_, fmt::format("a value for {}", name));
    for (const auto& [other, value] : module_->other_attributes)
      if (other == name) throw in_.error(begin, "module attribute {} is given twice", name);
    module_->other_attributes.emplace_back(std::string(name), raw.quoted ? '"' + raw.text + '"' : raw.text);
  }
}

Dims Parser::read_index() {
  const size_t begin = in_.next_position();
  Dims index = read_ints(in_, "a tuple index");
  for (const int64_t i : index)
    if (i < 0) throw in_.error(begin, "expected a tuple index, found {}", i);
  return index;
}

// { {0}: (1, {}, must-alias), ... }
void Parser::read_aliases() {
  in_.expect('{', "before the aliases");
  if (in_.accept('}')) return;
  do {
    InputOutputAlias alias;
    alias.output_index = read_index();
    in_.expect(':', "after an output index");
    in_.expect('(', "before an aliased parameter");
    alias.parameter = in_.integer("a parameter number");
    in_.expect(',', "after a parameter number");
    alias.parameter_index = read_index();
    if (in_.accept(',')) {
      alias.must = in_.accept("must-alias");
      if (!alias.must) in_.expect("may-alias", "or must-alias");
    }
    in_.expect(')', "after an aliased parameter");
    module_->aliases.push_back(std::move(alias));
  } while (in_.accept(','));
  in_.expect('}', "after the aliases");
}

// { (0, {1}), ... }
void Parser::read_donors() {
  in_.expect('{', "before the donors");
  if (in_.accept('}')) return;
  do {
    BufferDonor donor;
    in_.expect('(', "before a donated parameter");
    donor.parameter = in_.integer("a parameter number");
    in_.expect(',', "after a parameter number");
    donor.parameter_index = read_index();
    in_.expect(')', "after a donated parameter");
    module_->donors.push_back(std::move(donor));
  } while (in_.accept(','));
  in_.expect('}', "after the donors");
}

// {(f32[2]{0}, s32[])->f32[2]{0}}
void Parser::read_entry_layout() {
  ProgramShape shape;
  in_.expect('{', "before the entry's layout");
  in_.expect('(', "before the parameters' layouts");
  if (in_.peek() != ')') {
    do shape.parameters.push_back(read_shape(in_));
    while (in_.accept(','));
  }
  in_.expect(')', "after the parameters' layouts");
  in_.expect("->", "before the result's layout");
  shape.result = read_shape(in_);
  in_.expect('}', "after the entry's layout");
  module_->entry_layout = std::move(shape);
}

namespace {

// Rows `1 ...`, numbered from 1 without gaps, after the name of the table.
template <class ReadRow>
void read_table(Scanner& in, std::string_view name, ReadRow read_row) {
  const size_t before = in.next_position();
  if (!in.accept_keyword(name)) return;
  if (!in.at_integer() && !in.at_end() &&
      (in.peek() == '{' || in.peek() == '(')) {  // a computation of that name
    in.seek(before);
    return;
  }
  for (int64_t row = 1; in.at_integer(); ++row) {
    const size_t begin = in.next_position();
    const int64_t number = in.integer("a row number");
    if (number != row) throw in.error(begin, "expected row {} of {}, found {}", row, name, number);
    read_row();
  }
}

// {file_name_id=1 line=2 ...}: known fields go where `field` points to.
template <class FieldOf>
void read_fields(Scanner& in, FieldOf field_of) {
  in.expect('{', "before the fields of a row");
  while (!in.accept('}')) {
    const size_t begin = in.next_position();
    const std::string_view name = in.identifier("a field or '}'");
    in.expect('=', "after a field");
    int64_t* field = field_of(name);
    if (field == nullptr) throw in.error(begin, "unknown field '{}' of a stack frame table", name);
    *field = in.integer("an integer");
  }
}

}  // namespace

void Parser::read_stack_frames() {
  StackFrames& table = module_->stack_frames;
  read_table(in_, "FileNames", [&] { table.files.push_back(in_.string("a file name")); });
  read_table(in_, "FunctionNames", [&] { table.functions.push_back(in_.string("a function name")); });
  read_table(in_, "FileLocations", [&] {
    StackFrames::Location at;
    read_fields(in_, [&](std::string_view name) -> int64_t* {
      if (name == "file_name_id") return &at.file;
      if (name == "function_name_id") return &at.function;
      if (name == "line") return &at.line;
      if (name == "end_line") return &at.end_line;
      if (name == "column") return &at.column;
      if (name == "end_column") return &at.end_column;
      return nullptr;
    });
    table.locations.push_back(at);
  });
  read_table(in_, "StackFrames", [&] {
    StackFrames::Frame frame;
    frame.parent = 1;
    read_fields(in_, [&](std::string_view name) -> int64_t* {
      if (name == "file_location_id") return &frame.location;
      if (name == "parent_frame_id") return &frame.parent;
      return nullptr;
    });
    --frame.parent;  // the text counts parents from one, so that a root can say 1
    table.frames.push_back(frame);
  });
}

}  // namespace armillary
