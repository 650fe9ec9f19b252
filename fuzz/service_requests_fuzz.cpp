// Any requests to the service of recurring jobs, one after the other. Each gets an answer that its operation allows,
// and none shows a defect of ours. The history on record can then be exported and imported again.
//
// An input is requests with 0x1e between them: the first line has the method and the target, the rest is the body.

#include "fuzz/require.hpp"
#include "jobs/transfer.hpp"
#include "records/json_value.hpp"
#include "server/api.hpp"
#include "server/event_hub.hpp"
#include "server/open_jobs.hpp"
#include "server/service.hpp"
#include "tests/support/memory_store.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"
#include "transport/workers.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace zeus;  // NOLINT(google-build-using-namespace)
using fuzz::require;

class OneExchange final : public transport::Exchange {
 public:
  explicit OneExchange(transport::Request request) : request_{std::move(request)} { peer_.address = "127.0.0.1"; }

  [[nodiscard]] const transport::Request& request() const override { return request_; }
  [[nodiscard]] const transport::Peer& peer() const override { return peer_; }
  void answer(transport::Answer answer) override {
    {
      const std::lock_guard lock{mutex_};
      if (!answer_) {
        answer_ = std::move(answer);
      }
    }
    answered_.notify_all();
  }
  std::shared_ptr<transport::Stream> stream(int /*status*/, transport::Headers /*headers*/) override { std::abort(); }
  [[nodiscard]] bool is_abandoned() const override { return false; }
  void when_abandoned(std::function<void()> /*work*/) override {}

  const transport::Answer& wait() {
    std::unique_lock lock{mutex_};
    answered_.wait(lock, [this] { return answer_.has_value(); });
    return *answer_;
  }

 private:
  transport::Request request_;
  transport::Peer peer_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::optional<transport::Answer> answer_;
};

// The text up to the separator; takes both off `rest`.
std::string until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  std::string part{rest.substr(0, end)};
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

transport::Request request_from(std::string_view text) {
  const std::string line = until(text, '\n');
  std::string_view target = line;
  std::string method = until(target, ' ');
  std::string path = until(target, '?');
  return {.method = std::move(method),
          .path = std::move(path),
          .query = std::string{target},
          .headers = {},
          .body = std::string{text}};
}

// A service for each input, on a store in memory; its worker thread stays the same.
class Served {
 public:
  Served() = default;
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  // The worker notes its answers.
  ~Served() { workers_.reset(); }

  void ask(transport::Request request) {
    // Endless answers have a fuzzer of their own.
    if (request.path.ends_with("/events")) {
      return;
    }
    const auto exchange = std::make_shared<OneExchange>(std::move(request));
    api_.handle(exchange);
    const transport::Answer& answer = exchange->wait();
    require(answer.status >= 200 && answer.status != 500);
    const auto type = answer.headers.get("content-type");
    if (type && type->find("json") != std::string_view::npos && type->find("ndjson") == std::string_view::npos) {
      require(records::JsonValue::parse(answer.body).has_value());
    }
  }

  void check() {
    for (const std::string& name : store_.names()) {
      const std::string text = jobs::export_job(store_, name);
      test::MemoryStore other;
      jobs::import_job(other, site_, name, text);
    }
  }

 private:
  VirtualClock clock_{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
  test::MemoryStore store_;
  jobs::Site site_{
      .clock = clock_, .machine = FileTree{"/nonexistent"}, .owner = {.host = "node", .place = "here", .process = {}}};
  transport::EventLoop loop_;
  server::OpenJobs jobs_{store_, site_, std::size_t{8} << 20};
  std::shared_ptr<server::EventHub> events_ = std::make_shared<server::EventHub>(loop_, clock_, store_, jobs_);
  server::Service service_{.store = store_,
                           .site = site_,
                           .jobs = jobs_,
                           .events = *events_,
                           .version = "0",
                           .instance = "0",
                           .tokens = false,
                           .jobs_of_a_user = 8,
                           .openapi = "{}",
                           .metrics = [] { return std::string{}; }};
  std::unique_ptr<transport::Workers> workers_ = std::make_unique<transport::Workers>(1, 8);
  server::Api api_{loop_, service_, *workers_, clock_, nullptr, [](std::string_view, int, Seconds) {}};
};

}  // namespace

extern "C" int fuzz_service_requests(const std::uint8_t* data, std::size_t size) {
  std::string_view rest{reinterpret_cast<const char*>(data), size};
  Served served;
  while (!rest.empty()) {
    served.ask(request_from(until(rest, '\x1e')));
  }
  served.check();
  return 0;
}
