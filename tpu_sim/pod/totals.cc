#include "tpu_sim/pod/totals.h"

namespace armillary::sim {

Totals Totals::of(const std::vector<int>& chosen) const {
  Totals out;
  out.labels.reserve(chosen.size());
  for (int label : chosen) out.labels.push_back(labels[label]);
  out.by_class = by_class;
  out.mxu = mxu, out.vpu = vpu, out.xlu = xlu, out.hbm = hbm, out.ici = ici, out.dcn = dcn;
  out.exposed_communication = exposed_communication, out.exposed_copy = exposed_copy;
  out.communication = communication;
  out.communication_by_kind = communication_by_kind, out.exposed_by_kind = exposed_by_kind;
  out.flops = flops, out.hbm_bytes = hbm_bytes;
  return out;
}

void Totals::repeat(const Totals& before, const std::vector<int>& chosen, int64_t times) {
  const auto grow = [times](auto& now, auto then) {
    now += (now - then) * static_cast<std::remove_reference_t<decltype(now)>>(times);
  };
  for (size_t i = 0; i < chosen.size(); ++i) {
    LabelTotals& now = labels[chosen[i]];
    const LabelTotals& then = before.labels[i];
    grow(now.core, then.core), grow(now.background, then.background), grow(now.runs, then.runs);
  }
  for (size_t i = 0; i < by_class.size(); ++i) grow(by_class[i], before.by_class[i]);
  grow(mxu, before.mxu), grow(vpu, before.vpu), grow(xlu, before.xlu), grow(hbm, before.hbm),
      grow(ici, before.ici), grow(dcn, before.dcn);
  grow(exposed_communication, before.exposed_communication), grow(exposed_copy, before.exposed_copy);
  grow(communication, before.communication);
  for (size_t k = 0; k < exposed_by_kind.size(); ++k) {
    grow(communication_by_kind[k], before.communication_by_kind[k]);
    grow(exposed_by_kind[k], before.exposed_by_kind[k]);
  }
  grow(flops, before.flops), grow(hbm_bytes, before.hbm_bytes);
}

}  // namespace armillary::sim
