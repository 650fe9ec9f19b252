// What must hold for every service: each test plants its holes in zeusd's table and in that of `zeus serve`.
#include "service/front.hpp"

#include "base/log.hpp"
#include "daemon/api.hpp"
#include "jobs/job.hpp"
#include "server/api.hpp"
#include "server/event_hub.hpp"
#include "server/open_jobs.hpp"
#include "server/problem.hpp"
#include "server/service.hpp"
#include "tests/support/hand_loop.hpp"
#include "tests/support/held_exchange.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/running_server.hpp"
#include "tokens/token.hpp"
#include "transport/event_loop.hpp"
#include "transport/workers.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::service {
namespace {

using protocol::Scope;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A service with its real table and door, without devices and jobs: what it has to refuse must not reach a handler.
class Stand {
 public:
  Stand() = default;
  Stand(const Stand&) = delete;
  Stand& operator=(const Stand&) = delete;
  virtual ~Stand() = default;

  [[nodiscard]] virtual const Door& door() const = 0;
  virtual std::vector<Route> routes() = 0;
  virtual transport::Answer refuse(const Error& error) = 0;

  VirtualClock clock{Instant{1'000'000'000}, WallTime{1'795'284'000'000'000}};
};

class Daemon final : public Stand {
 public:
  [[nodiscard]] const Door& door() const override { return daemon::door; }
  std::vector<Route> routes() override { return daemon::routes(node_); }
  transport::Answer refuse(const Error& error) override { return daemon::answer_of(error); }

 private:
  test::HandLoop loop_{clock};
  daemon::Node node_{
      .loop = loop_, .access = {}, .identity = {}, .gpus = {}, .cpus = {}, .no_device = {}, .desk = {}, .metrics = {}};
};

class Server final : public Stand {
 public:
  [[nodiscard]] const Door& door() const override { return server::door; }
  std::vector<Route> routes() override { return api_.routes(); }
  transport::Answer refuse(const Error& error) override { return server::problem(error); }

 private:
  test::MemoryStore store_;
  jobs::Site site_{
      .clock = clock, .machine = FileTree{"/nonexistent"}, .owner = {.host = "node", .place = "here", .process = {}}};
  transport::EventLoop loop_;
  server::OpenJobs jobs_{store_, site_, std::size_t{1} << 20};
  std::shared_ptr<server::EventHub> events_ = std::make_shared<server::EventHub>(loop_, clock, store_, jobs_);
  server::Service service_{
      .store = store_, .site = site_, .jobs = jobs_, .events = *events_, .version = "0", .instance = "0"};
  transport::Workers workers_{1, 8};
  server::Api api_{loop_, service_, workers_, clock, nullptr, [](std::string_view, int, Seconds) {}};
};

// A path that fits.
std::string filled(std::string_view form) {
  std::string path;
  for (const std::string_view segment : segments_of(form)) {
    path += fmt::format("/{}", is_parameter(segment) ? "1" : segment);
  }
  if (path.ends_with('*')) {
    path.back() = 'x';
  }
  return path.starts_with('/') ? path : "/x";
}

class EveryFront : public testing::TestWithParam<std::string> {
 protected:
  EveryFront() {
    access_.credentials.keys = tokens::KeyRing{{tokens::Key{"", "a key of the test"}}};
    access_.names = Access::Names::checked;
  }

  // The table, with these routes before it. Every handler only counts its calls.
  Front front(const std::vector<Route>& planted = {}) {
    std::vector<Route> all = planted;
    for (const Route& route : stand_->routes()) {
      all.push_back(route);
    }
    for (Route& route : all) {
      route.handler = [this](const SharedCall& call) {
        ++handled_;
        call->done();
      };
    }
    return bare(std::move(all));
  }
  // These routes alone, with their handlers.
  Front bare(std::vector<Route> routes) {
    return {stand_->clock,
            stand_->door(),
            access_,
            std::move(routes),
            [this](const Error& error) { return stand_->refuse(error); },
            [this](const Call&, int, std::string_view, Seconds) { ++noted_; }};
  }
  [[nodiscard]] std::string bearer(const std::vector<Scope>& scopes) const {
    tokens::Claims claims{.subject = "ann", .scopes = {}, .id = "1"};
    for (const Scope scope : scopes) {
      claims.scopes.emplace_back(field::name_of(scope));
    }
    return "Bearer " + tokens::issue(claims, access_.credentials.keys->key());
  }
  static std::vector<Scope> all_but(std::optional<Scope> one) {
    std::vector<Scope> scopes;
    for (const auto& each : names_of(Scope{})) {
      if (each.value != one) {
        scopes.push_back(each.value);
      }
    }
    return scopes;
  }
  static int ask(const Front& front, const std::string& method, const std::string& path, transport::Headers headers) {
    const auto exchange = std::make_shared<test::HeldExchange>(
        transport::Request{.method = method, .path = path, .query = {}, .headers = std::move(headers), .body = {}},
        transport::Peer{.connection = 1, .local = {}, .address = "192.0.2.7"});
    front.handle(exchange);
    return exchange->answered().value_or(transport::Answer{.status = 0}).status;
  }
  [[nodiscard]] transport::Headers with_all(const std::string& host = "localhost") const {
    return {{"Host", host}, {"Authorization", bearer(all_but(std::nullopt))}};
  }
  static std::string method_of(const Route& route) { return std::string{route.method == "*" ? "PUT" : route.method}; }

  std::unique_ptr<Stand> stand_ =
      GetParam() == "zeusd" ? std::unique_ptr<Stand>{std::make_unique<Daemon>()} : std::make_unique<Server>();
  Access access_;
  int handled_ = 0;
  int noted_ = 0;
};

TEST_P(EveryFront, ARouteThatDoesNotSayWhomItIsForIsRefused) {
  const Front planted = front({{.name = "hole", .path = "/hole"}});
  EXPECT_EQ(ask(planted, "GET", "/hole", with_all()), 403);
  access_.credentials.keys.reset();
  EXPECT_EQ(ask(planted, "GET", "/hole", {{"Host", "localhost"}}), 403) << "also where no token is needed";
  EXPECT_EQ(handled_, 0);
  for (const Route& route : stand_->routes()) {
    EXPECT_FALSE(std::holds_alternative<Unstated>(route.needs)) << route.path;
  }
}

TEST_P(EveryFront, AForeignOriginIsRefusedOnEachRoute) {
  const Front whole = front();
  for (const Route& route : stand_->routes()) {
    transport::Headers headers = with_all();
    headers.add("Origin", "http://evil.example");
    EXPECT_EQ(ask(whole, method_of(route), filled(route.path), headers), 403) << route.path;
  }
  EXPECT_EQ(handled_, 0);
  EXPECT_EQ(noted_, static_cast<int>(stand_->routes().size()));
}

TEST_P(EveryFront, AForeignHostIsRefusedOnEachRoute) {
  const Front whole = front();
  for (const Route& route : stand_->routes()) {
    EXPECT_EQ(ask(whole, method_of(route), filled(route.path), with_all("evil.example")), 403) << route.path;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_P(EveryFront, ATokenOfAnotherScopeIsRefusedOnEachRouteThatNeedsOne) {
  const Front whole = front();
  int guarded = 0;
  for (const Route& route : stand_->routes()) {
    const std::string path = filled(route.path);
    const auto* const scope = std::get_if<Scope>(&route.needs);
    if (scope != nullptr) {
      ++guarded;
      const transport::Headers headers{{"Host", "localhost"}, {"Authorization", bearer(all_but(*scope))}};
      EXPECT_EQ(ask(whole, method_of(route), path, headers), 403) << route.path;
    }
    const bool is_open = std::holds_alternative<Anyone>(route.needs);
    EXPECT_EQ(ask(whole, method_of(route), path, {{"Host", "localhost"}}), is_open ? 200 : 401) << route.path;
    EXPECT_EQ(ask(whole, method_of(route), path, with_all()), 200) << route.path;
  }
  EXPECT_GT(guarded, 20);
}

TEST_P(EveryFront, ARequestWithoutAHostIsRefusedBeforeAnyRoute) {
  const Front whole = front();
  const test::RunningServer server{
      [&](std::shared_ptr<transport::Exchange> exchange) { whole.handle(std::move(exchange)); }};
  const int port = std::stoi(server.tcp().substr(server.tcp().rfind(':') + 1));
  const std::string authorization = fmt::format("Authorization: {}\r\n", bearer(all_but(std::nullopt)));
  for (const Route& route : stand_->routes()) {
    test::RawClient client{port};
    client.send(fmt::format("{} {} HTTP/1.1\r\n{}\r\n", method_of(route), filled(route.path), authorization));
    EXPECT_EQ(client.status(), 400) << route.path;
  }
  EXPECT_EQ(handled_, 0);
  test::RawClient client{port};
  client.send(fmt::format("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{}\r\n", authorization));
  EXPECT_EQ(client.status(), 200);
}

TEST_P(EveryFront, AnExceptionOfAHandlerIsLoggedWithTheRouteAndItsClientGets500) {
  std::vector<std::string> lines;
  const log::ScopedSink sink{[&](log::Level level, std::string_view line) {
    EXPECT_EQ(level, log::Level::error);
    lines.emplace_back(line);
  }};
  std::vector<Route> routes{{.name = "first", .path = "/first", .needs = Anyone{}, .handler = [](const SharedCall&) {
                               throw std::out_of_range{"a secret\nof the program"};
                             }}};
  routes.push_back({.name = "second", .path = "/second", .needs = Anyone{}, .handler = [](const SharedCall& call) {
                      call->done();
                      throw std::out_of_range{"late"};
                    }});
  const Front one = bare(routes);
  const auto exchange = std::make_shared<test::HeldExchange>(transport::Request{
      .method = "GET", .path = "/first", .query = {}, .headers = {{"Host", "localhost"}}, .body = {}});
  one.handle(exchange);
  ASSERT_TRUE(exchange->answered());
  EXPECT_EQ(exchange->answered()->status, 500);
  EXPECT_THAT(exchange->answered()->body, AllOf(HasSubstr("log"), Not(HasSubstr("secret"))));
  EXPECT_EQ(ask(one, "GET", "/second", {{"Host", "localhost"}}), 200) << "it was answered before";
  EXPECT_EQ(noted_, 2);
  EXPECT_THAT(lines, ElementsAre("first: a secret\\nof the program", "second: late"));
}

TEST_P(EveryFront, OnlyTheFirstAnswerCounts) {
  SharedCall kept;
  const std::vector<Route> routes{
      {.name = "one", .path = "/one", .needs = Anyone{}, .handler = [&](const SharedCall& call) { kept = call; }}};
  const Front one = bare(routes);
  EXPECT_EQ(ask(one, "GET", "/one", {{"Host", "localhost"}}), 0);
  kept->done();
  kept->refuse(Error{ErrorKind::timeout, "late"});
  EXPECT_EQ(noted_, 1);
}

INSTANTIATE_TEST_SUITE_P(Services, EveryFront, testing::Values("zeusd", "serve"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace zeus::service
