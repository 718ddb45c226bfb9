// Where instructions come from: op metadata, stack frames, original values; and free-form notes: frontend
// attributes, statistics.
#pragma once

#include <string>
#include <string_view>

#include "xla_core/hlo/module.h"
#include "xla_core/io/hlo.pb.h"

namespace armillary {

Metadata metadata_from_proto(const proto::OpMetadata& p);
void metadata_to_proto(const Metadata& metadata, proto::OpMetadata* p);

// `{op_name="x" source_line=3}`, as shardings carry it.
std::string metadata_text(const proto::OpMetadata& p);
void metadata_from_text(std::string_view text, proto::OpMetadata* p);

StackFrames stack_frames_from_proto(const proto::StackFrameIndexProto& p);
void stack_frames_to_proto(const StackFrames& frames, proto::StackFrameIndexProto* p);

// `{a="b",m={x=1}}`, keys in order; a value that is itself a brace-balanced text stands without quotes.
std::string frontend_attributes_text(const proto::FrontendAttributes& p);
void frontend_attributes_from_text(std::string_view text, proto::FrontendAttributes* p);

// `{visualizing_index=1,stat-1=33}`
std::string statistics_text(const proto::StatisticsViz& p);
void statistics_from_text(std::string_view text, proto::StatisticsViz* p);

// `{({"a"}, {"b" {1}})}`: one entry a leaf of the shape, nested like it; `{}` and `()` where nothing is
// known.
std::string origin_text(const proto::OriginalValueProto& p);
void origin_from_text(std::string_view text, proto::OriginalValueProto* p);

// True for a text that begins with a brace and ends with its partner, strings stepped over: it needs no
// quotes in HLO text.
bool is_braced(std::string_view text);

}  // namespace armillary
