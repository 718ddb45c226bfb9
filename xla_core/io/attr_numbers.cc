// Codecs of attributes that are numbers, flags, names, strings or lists of integers.
#include <algorithm>
#include <cctype>

#include "xla_core/io/attr_proto.h"

namespace armillary {
namespace {

using MaybeValue = std::optional<AttrValue>;
using In = AttrSource;
using Out = AttrSink;

template <class Repeated>
MaybeValue ints(const In& in, const Repeated& field) {
  if (field.empty() && !in.required) return std::nullopt;
  return Dims(field.begin(), field.end());
}

template <class Repeated>
void put_ints(const AttrValue& value, Repeated* field) {
  for (int64_t i : std::get<Dims>(value)) field->Add(i);
}

MaybeValue flag(const In& in, bool value) {
  if (!value && !in.required) return std::nullopt;
  return value;
}

MaybeValue number(const In& in, int64_t value, int64_t absent = 0) {
  if (value <= absent && !in.required) return std::nullopt;
  return value;
}

MaybeValue text(const In& in, const std::string& value) {
  if (value.empty() && !in.required) return std::nullopt;
  return value;
}

bool boolean(const AttrValue& value) { return std::get<bool>(value); }
int64_t integer(const AttrValue& value) { return std::get<int64_t>(value); }
int32_t small(const AttrValue& value) {
  return static_cast<int32_t>(std::clamp<int64_t>(integer(value), INT32_MIN, INT32_MAX));
}
const std::string& string(const AttrValue& value) { return std::get<std::string>(value); }

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  return text;
}
std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

// The number of a name in one of the enumerations; `Parse` is protobuf's.
template <class Enum>
Enum enum_of(bool (*parse)(google::protobuf::ConstStringParam, Enum*), const std::string& name, Attr attr) {
  Enum value;
  if (!parse(name, &value)) throw user_error("{}: unknown value {}", to_string(attr), name);
  return value;
}

const proto::DotDimensionNumbers& dot(const In& in) {
  return in.op == Op::ragged_dot ? in.p.ragged_dot_dimension_numbers().dot_dimension_numbers()
                                 : in.p.dot_dimension_numbers();
}
proto::DotDimensionNumbers* dot(const Out& out) {
  return out.at.is(Op::ragged_dot)
             ? out.p->mutable_ragged_dot_dimension_numbers()->mutable_dot_dimension_numbers()
             : out.p->mutable_dot_dimension_numbers();
}

// Every dot says what it contracts, be it nothing.
template <class Repeated>
MaybeValue contracted(const In& in, const Repeated& field) {
  if (!in.p.has_dot_dimension_numbers() && !in.p.has_ragged_dot_dimension_numbers()) return ints(in, field);
  return Dims(field.begin(), field.end());
}

// XLA leaves `type` out where it is the operands' own.
std::string_view default_comparison(DType dtype) {
  if (is_signed(dtype)) return "SIGNED";
  return is_integral(dtype) ? "UNSIGNED" : "FLOAT";
}

MaybeValue comparison_type(const In& in) {
  const std::string& type = in.p.comparison_type();
  const DType dtype = in.operands.empty() ? DType::kInvalid : in.operands[0]->dtype();
  if (type.empty() || type == default_comparison(dtype)) return std::nullopt;
  return type;
}

// Dots keep `algorithm` beside their precision, the random bit generator in a field of its own.
MaybeValue algorithm(const In& in) {
  if (in.op == Op::rng_bit_generator) return lower(proto::RandomAlgorithm_Name(in.p.rng_algorithm()));
  const auto value = in.p.precision_config().algorithm();
  if (value == proto::PrecisionConfig::ALG_UNSET) return std::nullopt;
  const std::string name = proto::PrecisionConfig::Algorithm_Name(value);
  if (name.empty()) throw user_error("algorithm: unknown number {}", static_cast<int>(value));
  return lower(name.substr(4));  // without ALG_
}

void put_algorithm(const Out& out, const AttrValue& v) {
  if (out.at.is(Op::rng_bit_generator))
    return out.p->set_rng_algorithm(
        enum_of(&proto::RandomAlgorithm_Parse, upper(string(v)), Attr::algorithm));
  out.p->mutable_precision_config()->set_algorithm(
      enum_of(&proto::PrecisionConfig::Algorithm_Parse, "ALG_" + upper(string(v)), Attr::algorithm));
}

MaybeValue precision(const In& in) {
  const auto& list = in.p.precision_config().operand_precision();
  if (std::all_of(list.begin(), list.end(), [](int p) { return p == proto::PrecisionConfig::DEFAULT; }))
    return std::nullopt;
  std::vector<std::string> names;
  for (int p : list)
    names.push_back(
        lower(proto::PrecisionConfig::Precision_Name(static_cast<proto::PrecisionConfig::Precision>(p))));
  return names;
}

void put_precision(const Out& out, const AttrValue& v) {
  for (const std::string& name : std::get<std::vector<std::string>>(v))
    out.p->mutable_precision_config()->add_operand_precision(
        enum_of(&proto::PrecisionConfig::Precision_Parse, upper(name), Attr::operand_precision));
}

MaybeValue api_version(const In& in) {
  const auto version = in.p.custom_call_api_version();
  if (version == proto::API_VERSION_UNSPECIFIED || version == proto::API_VERSION_ORIGINAL)
    return std::nullopt;
  return proto::CustomCallApiVersion_Name(version);
}

MaybeValue lower_triangle(const In& in) {
  return flag(
      in, in.op == Op::cholesky ? in.p.cholesky_options().lower() : in.p.triangular_solve_options().lower());
}

void put_lower_triangle(const Out& out, const AttrValue& v) {
  if (out.at.is(Op::cholesky))
    out.p->mutable_cholesky_options()->set_lower(boolean(v));
  else
    out.p->mutable_triangular_solve_options()->set_lower(boolean(v));
}

MaybeValue index_vector_dim(const In& in) {
  return in.op == Op::gather ? in.p.gather_dimension_numbers().index_vector_dim()
                             : in.p.scatter_dimension_numbers().index_vector_dim();
}

void put_index_vector_dim(const Out& out, const AttrValue& v) {
  if (out.at.is(Op::gather))
    out.p->mutable_gather_dimension_numbers()->set_index_vector_dim(integer(v));
  else
    out.p->mutable_scatter_dimension_numbers()->set_index_vector_dim(integer(v));
}

// An empty list says something for most: a broadcast of a scalar. A reshape keeps another attribute there.
MaybeValue dimensions(const In& in) {
  const auto& field = in.p.dimensions();
  const bool may_lack = !in.required && (def(in.op).has(kCollective) || in.op == Op::topk);
  if (in.op == Op::reshape || (field.empty() && may_lack)) return std::nullopt;
  return Dims(field.begin(), field.end());
}

MaybeValue inferred_dimension(const In& in) {
  if (in.p.dimensions().empty()) return std::nullopt;
  return in.p.dimensions(0);
}

MaybeValue iota_dimension(const In& in) {
  if (in.p.dimensions_size() != 1)
    throw user_error("iota counts along one dimension, not {}", in.p.dimensions_size());
  return in.p.dimensions(0);
}

// The number people wrote: 0.001, not the double next to the float 0.001.
MaybeValue epsilon(const In& in) { return std::stod(fmt::format("{}", in.p.epsilon())); }

MaybeValue thread(const In& in) {
  const std::string& name = in.p.async_execution_thread();
  return name == "main" ? std::nullopt : text(in, name);
}

MaybeValue associative(const In& in) {
  if (in.p.is_associative() == proto::TRI_STATE_UNSPECIFIED) return std::nullopt;
  return std::string(in.p.is_associative() == proto::TRI_STATE_TRUE ? "true" : "false");
}

const AttrCodec kCodecs[] = {
    {Attr::dimensions, dimensions,
     [](const Out& o, const AttrValue& v) { put_ints(v, o.p->mutable_dimensions()); }},
    {Attr::inferred_dimension, inferred_dimension,
     [](const Out& o, const AttrValue& v) { o.p->add_dimensions(integer(v)); }},
    {Attr::iota_dimension, iota_dimension,
     [](const Out& o, const AttrValue& v) { o.p->add_dimensions(integer(v)); }},
    {Attr::lhs_batch_dims, [](const In& i) { return ints(i, dot(i).lhs_batch_dimensions()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, dot(o)->mutable_lhs_batch_dimensions()); }},
    {Attr::rhs_batch_dims, [](const In& i) { return ints(i, dot(i).rhs_batch_dimensions()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, dot(o)->mutable_rhs_batch_dimensions()); }},
    {Attr::lhs_contracting_dims,
     [](const In& i) { return contracted(i, dot(i).lhs_contracting_dimensions()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, dot(o)->mutable_lhs_contracting_dimensions()); }},
    {Attr::rhs_contracting_dims,
     [](const In& i) { return contracted(i, dot(i).rhs_contracting_dimensions()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, dot(o)->mutable_rhs_contracting_dimensions()); }},
    {Attr::lhs_ragged_dims,
     [](const In& i) { return ints(i, i.p.ragged_dot_dimension_numbers().lhs_ragged_dimensions()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_ragged_dot_dimension_numbers()->mutable_lhs_ragged_dimensions());
     }},
    {Attr::rhs_group_dims,
     [](const In& i) { return ints(i, i.p.ragged_dot_dimension_numbers().rhs_group_dimensions()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_ragged_dot_dimension_numbers()->mutable_rhs_group_dimensions());
     }},
    {Attr::operand_precision, precision, put_precision},
    {Attr::algorithm, algorithm, put_algorithm},
    {Attr::feature_group_count, [](const In& i) { return number(i, i.p.feature_group_count(), 1); },
     [](const Out& o, const AttrValue& v) { o.p->set_feature_group_count(integer(v)); }},
    {Attr::batch_group_count, [](const In& i) { return number(i, i.p.batch_group_count(), 1); },
     [](const Out& o, const AttrValue& v) { o.p->set_batch_group_count(integer(v)); }},
    {Attr::dynamic_slice_sizes, [](const In& i) { return ints(i, i.p.dynamic_slice_sizes()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, o.p->mutable_dynamic_slice_sizes()); }},
    {Attr::index, [](const In& i) -> MaybeValue { return i.p.tuple_index(); },
     [](const Out& o, const AttrValue& v) { o.p->set_tuple_index(integer(v)); }},
    {Attr::direction, [](const In& i) { return text(i, i.p.comparison_direction()); },
     [](const Out& o, const AttrValue& v) { o.p->set_comparison_direction(string(v)); }},
    {Attr::type, comparison_type,
     [](const Out& o, const AttrValue& v) { o.p->set_comparison_type(string(v)); }},
    {Attr::is_stable, [](const In& i) { return flag(i, i.p.is_stable()); },
     [](const Out& o, const AttrValue& v) { o.p->set_is_stable(boolean(v)); }},
    {Attr::exponent_bits, [](const In& i) -> MaybeValue { return int64_t{i.p.exponent_bits()}; },
     [](const Out& o, const AttrValue& v) { o.p->set_exponent_bits(small(v)); }},
    {Attr::mantissa_bits, [](const In& i) -> MaybeValue { return int64_t{i.p.mantissa_bits()}; },
     [](const Out& o, const AttrValue& v) { o.p->set_mantissa_bits(small(v)); }},
    {Attr::fft_type, [](const In& i) -> MaybeValue { return proto::FftType_Name(i.p.fft_type()); },
     [](const Out& o, const AttrValue& v) {
       o.p->set_fft_type(enum_of(&proto::FftType_Parse, string(v), Attr::fft_type));
     }},
    {Attr::fft_length, [](const In& i) { return ints(i, i.p.fft_length()); },
     [](const Out& o, const AttrValue& v) { put_ints(v, o.p->mutable_fft_length()); }},
    {Attr::lower, lower_triangle, put_lower_triangle},
    {Attr::left_side, [](const In& i) { return flag(i, i.p.triangular_solve_options().left_side()); },
     [](const Out& o, const AttrValue& v) {
       o.p->mutable_triangular_solve_options()->set_left_side(boolean(v));
     }},
    {Attr::unit_diagonal, [](const In& i) { return flag(i, i.p.triangular_solve_options().unit_diagonal()); },
     [](const Out& o, const AttrValue& v) {
       o.p->mutable_triangular_solve_options()->set_unit_diagonal(boolean(v));
     }},
    {Attr::transpose_a,
     [](const In& i) -> MaybeValue {
       return proto::TriangularSolveOptions::Transpose_Name(i.p.triangular_solve_options().transpose_a());
     },
     [](const Out& o, const AttrValue& v) {
       o.p->mutable_triangular_solve_options()->set_transpose_a(
           enum_of(&proto::TriangularSolveOptions::Transpose_Parse, string(v), Attr::transpose_a));
     }},
    {Attr::epsilon, epsilon,
     [](const Out& o, const AttrValue& v) { o.p->set_epsilon(static_cast<float>(std::get<double>(v))); }},
    {Attr::feature_index, [](const In& i) -> MaybeValue { return i.p.feature_index(); },
     [](const Out& o, const AttrValue& v) { o.p->set_feature_index(integer(v)); }},
    {Attr::offset_dims, [](const In& i) { return ints(i, i.p.gather_dimension_numbers().offset_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_gather_dimension_numbers()->mutable_offset_dims());
     }},
    {Attr::collapsed_slice_dims,
     [](const In& i) { return ints(i, i.p.gather_dimension_numbers().collapsed_slice_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_gather_dimension_numbers()->mutable_collapsed_slice_dims());
     }},
    {Attr::start_index_map,
     [](const In& i) { return ints(i, i.p.gather_dimension_numbers().start_index_map()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_gather_dimension_numbers()->mutable_start_index_map());
     }},
    {Attr::operand_batching_dims,
     [](const In& i) { return ints(i, i.p.gather_dimension_numbers().operand_batching_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_gather_dimension_numbers()->mutable_operand_batching_dims());
     }},
    {Attr::start_indices_batching_dims,
     [](const In& i) { return ints(i, i.p.gather_dimension_numbers().start_indices_batching_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_gather_dimension_numbers()->mutable_start_indices_batching_dims());
     }},
    {Attr::index_vector_dim, index_vector_dim, put_index_vector_dim},
    {Attr::update_window_dims,
     [](const In& i) { return ints(i, i.p.scatter_dimension_numbers().update_window_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_scatter_dimension_numbers()->mutable_update_window_dims());
     }},
    {Attr::inserted_window_dims,
     [](const In& i) { return ints(i, i.p.scatter_dimension_numbers().inserted_window_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_scatter_dimension_numbers()->mutable_inserted_window_dims());
     }},
    {Attr::scatter_dims_to_operand_dims,
     [](const In& i) { return ints(i, i.p.scatter_dimension_numbers().scatter_dims_to_operand_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_scatter_dimension_numbers()->mutable_scatter_dims_to_operand_dims());
     }},
    {Attr::input_batching_dims,
     [](const In& i) { return ints(i, i.p.scatter_dimension_numbers().input_batching_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_scatter_dimension_numbers()->mutable_input_batching_dims());
     }},
    {Attr::scatter_indices_batching_dims,
     [](const In& i) { return ints(i, i.p.scatter_dimension_numbers().scatter_indices_batching_dims()); },
     [](const Out& o, const AttrValue& v) {
       put_ints(v, o.p->mutable_scatter_dimension_numbers()->mutable_scatter_indices_batching_dims());
     }},
    {Attr::indices_are_sorted, [](const In& i) { return flag(i, i.p.indices_are_sorted()); },
     [](const Out& o, const AttrValue& v) { o.p->set_indices_are_sorted(boolean(v)); }},
    {Attr::unique_indices, [](const In& i) { return flag(i, i.p.unique_indices()); },
     [](const Out& o, const AttrValue& v) { o.p->set_unique_indices(boolean(v)); }},
    {Attr::distribution,
     [](const In& i) -> MaybeValue { return lower(proto::RandomDistribution_Name(i.p.distribution())); },
     [](const Out& o, const AttrValue& v) {
       o.p->set_distribution(enum_of(&proto::RandomDistribution_Parse, upper(string(v)), Attr::distribution));
     }},
    {Attr::delta, [](const In& i) -> MaybeValue { return i.p.delta(); },
     [](const Out& o, const AttrValue& v) { o.p->set_delta(integer(v)); }},
    {Attr::custom_call_target, [](const In& i) { return text(i, i.p.custom_call_target()); },
     [](const Out& o, const AttrValue& v) { o.p->set_custom_call_target(string(v)); }},
    {Attr::api_version, api_version,
     [](const Out& o, const AttrValue& v) {
       o.p->set_custom_call_api_version(
           enum_of(&proto::CustomCallApiVersion_Parse, string(v), Attr::api_version));
     }},
    {Attr::schedule,
     [](const In& i) -> MaybeValue {
       if (i.p.custom_call_schedule() == proto::SCHEDULE_NONE) return std::nullopt;
       return proto::CustomCallSchedule_Name(i.p.custom_call_schedule());
     },
     [](const Out& o, const AttrValue& v) {
       o.p->set_custom_call_schedule(enum_of(&proto::CustomCallSchedule_Parse, string(v), Attr::schedule));
     }},
    {Attr::custom_call_has_side_effect,
     [](const In& i) { return flag(i, i.p.custom_call_has_side_effect()); },
     [](const Out& o, const AttrValue& v) { o.p->set_custom_call_has_side_effect(boolean(v)); }},
    {Attr::channel_id,
     [](const In& i) { return number(i, i.p.channel_id() > 0 ? i.p.channel_id() : i.p.all_reduce_id()); },
     [](const Out& o, const AttrValue& v) { o.p->set_channel_id(integer(v)); }},
    {Attr::use_global_device_ids, [](const In& i) { return flag(i, i.p.use_global_device_ids()); },
     [](const Out& o, const AttrValue& v) { o.p->set_use_global_device_ids(boolean(v)); }},
    {Attr::constrain_layout,
     [](const In& i) { return flag(i, i.op != Op::custom_call && i.p.constrain_layout()); },
     [](const Out& o, const AttrValue& v) { o.p->set_constrain_layout(boolean(v)); }},
    {Attr::is_host_transfer, [](const In& i) { return flag(i, i.p.is_host_transfer()); },
     [](const Out& o, const AttrValue& v) { o.p->set_is_host_transfer(boolean(v)); }},
    {Attr::k, [](const In& i) -> MaybeValue { return i.p.k(); },
     [](const Out& o, const AttrValue& v) { o.p->set_k(integer(v)); }},
    {Attr::largest, [](const In& i) -> MaybeValue { return i.p.largest(); },
     [](const Out& o, const AttrValue& v) { o.p->set_largest(boolean(v)); }},
    {Attr::num_carries, [](const In& i) -> MaybeValue { return i.p.num_carries(); },
     [](const Out& o, const AttrValue& v) { o.p->set_num_carries(integer(v)); }},
    {Attr::is_reverse, [](const In& i) { return flag(i, i.p.is_reverse()); },
     [](const Out& o, const AttrValue& v) { o.p->set_is_reverse(boolean(v)); }},
    {Attr::is_associative, associative,
     [](const Out& o, const AttrValue& v) {
       o.p->set_is_associative(string(v) == "true" ? proto::TRI_STATE_TRUE : proto::TRI_STATE_FALSE);
     }},
    {Attr::kind, [](const In& i) { return text(i, i.p.fusion_kind()); },
     [](const Out& o, const AttrValue& v) { o.p->set_fusion_kind(string(v)); }},
    {Attr::async_execution_thread, thread,
     [](const Out& o, const AttrValue& v) { o.p->set_async_execution_thread(string(v)); }},
    {Attr::cross_program_prefetch_index,
     [](const In& i) -> MaybeValue {
       if (i.p.optional_cross_program_prefetch_index_case() !=
           proto::HloInstructionProto::kCrossProgramPrefetchIndex)
         return std::nullopt;
       return int64_t{i.p.cross_program_prefetch_index()};
     },
     [](const Out& o, const AttrValue& v) { o.p->set_cross_program_prefetch_index(small(v)); }},
    {Attr::infeed_config, [](const In& i) { return text(i, i.p.infeed_config()); },
     [](const Out& o, const AttrValue& v) { o.p->set_infeed_config(string(v)); }},
    {Attr::outfeed_config, [](const In& i) { return text(i, i.p.outfeed_config()); },
     [](const Out& o, const AttrValue& v) { o.p->set_outfeed_config(string(v)); }},
    {Attr::is_composite, [](const In& i) { return flag(i, i.p.is_composite()); },
     [](const Out& o, const AttrValue& v) { o.p->set_is_composite(boolean(v)); }},
};

}  // namespace

std::span<const AttrCodec> number_codecs() { return kCodecs; }

}  // namespace armillary
