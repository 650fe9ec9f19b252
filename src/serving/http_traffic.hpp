// Traffic by HTTP: a thread for each request in flight. In a closed loop each sends the next request when its answer
// has ended; at a rate, requests are due at random moments, and an answer's times count from there even if no thread
// was free. One thread makes it, asks and destroys it.
#pragma once

#include "base/clock.hpp"
#include "serving/prompts.hpp"
#include "serving/traffic.hpp"
#include "transport/client.hpp"

#include <zeus/units.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::serving {

struct HttpPlan {
  transport::ClientPlan server = {};
  std::string prefix = {};  // of every path
  RequestPlan request = {};
  std::uint64_t in_flight = 1;
  std::optional<double> rate = {};  // requests a second, at random moments
  Seconds answer_time{600};         // for a whole answer
};

class HttpTraffic final : public Traffic {
 public:
  // Begins at once, with one request for each prompt. The clock outlives it.
  HttpTraffic(HttpPlan plan, std::vector<Prompt> prompts, Clock& clock);
  HttpTraffic(const HttpTraffic&) = delete;
  HttpTraffic& operator=(const HttpTraffic&) = delete;
  ~HttpTraffic() override;

  [[nodiscard]] bool is_over() const override;
  [[nodiscard]] bool has_given_up() const override;
  [[nodiscard]] Progress progress() const override;
  void stop() override;
  [[nodiscard]] std::vector<Answer> take_answers() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One request and its whole answer. `goes_on` is asked a few times a second; when it is false, the answer stays
// unfinished. Throws nothing because of the server or the network.
Answer ask(const HttpPlan& plan, const std::string& body, Clock& clock, const std::function<bool()>& goes_on,
           const std::function<void(std::string_view text)>& on_text = {});

}  // namespace zeus::serving
