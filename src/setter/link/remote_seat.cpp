#include "setter/link/remote_seat.hpp"

#include <span>
#include <utility>

namespace zeus::setter {

Answer RemoteSeat::ask(const Request& request) {
  Answer answer;
  if (channel_.send(bytes_of(request))) {
    const std::optional<std::size_t> size = channel_.receive(std::as_writable_bytes(std::span{&answer, 1}));
    if (size == sizeof answer && is_valid(answer) && answer.kind == request.kind) {
      calls_ = answer.calls;
      return answer;
    }
  }
  answer = {.kind = request.kind};
  answer.error = wire_error(Error{ErrorKind::unavailable, "the setter, which sets GPUs for zeusd, has ended",
                                  "zeusd ends as well; start it again"});
  return answer;
}

Taken RemoteSeat::take(LeaseNumber lease, Seconds term, const control::LeaseClient& client) {
  Request request{.kind = RequestKind::take, .lease = lease, .term = term.value()};
  put_client(request, client);
  return taken_from(ask(request), client);
}

SettingResult RemoteSeat::set(LeaseNumber lease, const Setting& setting) {
  Request request{.kind = RequestKind::set, .lease = lease};
  put_setting(request, setting);
  return result_from(ask(request));
}

std::optional<Error> RemoteSeat::renew(LeaseNumber lease) {
  return error_from(ask({.kind = RequestKind::renew, .lease = lease}).error);
}

std::optional<Error> RemoteSeat::restore(LeaseNumber lease) {
  return error_from(ask({.kind = RequestKind::restore, .lease = lease}).error);
}

std::optional<Error> RemoteSeat::release(LeaseNumber lease, const std::string& why) {
  Request request{.kind = RequestKind::release, .lease = lease};
  request.why.put(why);
  return error_from(ask(request).error);
}

std::optional<std::string> RemoteSeat::put_back_what_was_left() {
  const Answer answer = ask({.kind = RequestKind::put_back});
  const std::optional<Error> error = error_from(answer.error);
  return error ? std::optional<std::string>{error->what()} : text_from(answer);
}

std::string RemoteSeat::overruled(LeaseNumber lease) {
  const Answer answer = ask({.kind = RequestKind::overruled, .lease = lease});
  const std::optional<Error> error = error_from(answer.error);
  return error ? error->message() : text_from(answer).value_or("");
}

}  // namespace zeus::setter
