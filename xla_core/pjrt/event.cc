#include "xla_core/pjrt/event.h"

namespace armillary::pjrt {

void Event::set(FailurePtr failure) {
  std::vector<Callback> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (taken_) return;
    taken_ = true;
    failure_ = std::move(failure);
    callbacks.swap(callbacks_);
    ready_.store(1, std::memory_order_release);
  }
  ready_.notify_all();
  for (const Callback& callback : callbacks) callback(failure_);
}

void Event::on_ready(Callback callback) {
  {
    std::lock_guard lock(mutex_);
    if (!taken_) {
      callbacks_.push_back(std::move(callback));
      return;
    }
  }
  callback(failure_);
}

namespace {

void destroy(PJRT_Event_Destroy_Args& args) { delete args.event; }

void is_ready(PJRT_Event_IsReady_Args& args) {
  args.is_ready = !args.event->event || args.event->event->is_ready();
}

void throw_failure(const PJRT_Event* event) {
  if (event->event && event->event->failure()) rethrow(event->event->failure());
}

void error(PJRT_Event_Error_Args& args) {
  if (args.event->event && !args.event->event->is_ready())
    throw CodedError(PJRT_Error_Code_FAILED_PRECONDITION, "the event is not ready, so it has no error yet");
  throw_failure(args.event);
}

void await(PJRT_Event_Await_Args& args) {
  if (args.event->event) args.event->event->wait();
  throw_failure(args.event);
}

void on_ready(PJRT_Event_OnReady_Args& args) {
  if (!args.event->event) return args.callback(nullptr, args.user_arg);
  args.event->event->on_ready([callback = args.callback, user_arg = args.user_arg](
                                  const FailurePtr& failure) { callback(to_error(failure), user_arg); });
}

void create(PJRT_Event_Create_Args& args) { args.event = new PJRT_Event{std::make_shared<Event>()}; }

void set(PJRT_Event_Set_Args& args) {
  if (!args.event->event) throw user_error("the event was set long ago");
  FailurePtr failure;
  if (args.error_code != PJRT_Error_Code_OK)
    failure = std::make_shared<Failure>(
        Failure{args.error_code, std::string(text(args.error_message, args.error_message_size))});
  args.event->event->set(std::move(failure));
}

}  // namespace

void add_events(PJRT_Api& api) {
  api.PJRT_Event_Destroy = guard<destroy>;
  api.PJRT_Event_IsReady = guard<is_ready>;
  api.PJRT_Event_Error = guard<error>;
  api.PJRT_Event_Await = guard<await>;
  api.PJRT_Event_OnReady = guard<on_ready>;
  api.PJRT_Event_Create = guard<create>;
  api.PJRT_Event_Set = guard<set>;
}

}  // namespace armillary::pjrt
