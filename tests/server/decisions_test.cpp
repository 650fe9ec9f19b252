// Servers make the simulator's decisions, try by try and bit by bit: its outcomes are fed over HTTP to `zeus serve`,
// which is restarted after every seventh recurrence.

#include "base/file_descriptor.hpp"
#include "jobs/job.hpp"
#include "optimize/batch_size/policy_factory.hpp"
#include "physics/gpu_model.hpp"
#include "physics/workload.hpp"
#include "protocol/jobs_api.hpp"
#include "records/job_view.hpp"
#include "records/json_writer.hpp"
#include "remote_jobs/server_address.hpp"
#include "remote_jobs/service_client.hpp"
#include "simulate/job_simulation.hpp"
#include "simulate/model_workload.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace zeus::server {
namespace {

constexpr std::uint64_t recurrences = 60;
constexpr std::uint64_t recurrences_of_a_server = 7;
constexpr std::uint64_t seed = 3;
constexpr std::string_view job_name{"nightly/a b"};

// `zeus serve` as a process, on a Unix socket.
class ServeProcess {
 public:
  ServeProcess(std::filesystem::path folder, std::string database)
      : folder_{std::move(folder)}, database_{std::move(database)} {
    start();
  }
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;
  ~ServeProcess() { end(SIGKILL); }

  // Ends it, alternating between the two ways, and starts another one.
  void start_anew() {
    end(starts_ % 2 == 0 ? SIGKILL : SIGTERM);
    start();
  }
  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] std::string address() const { return fmt::format("unix:{}", (folder_ / "serve.sock").string()); }

 private:
  void start() {
    std::array<int, 2> said{};
    ASSERT_EQ(::pipe2(said.data(), O_CLOEXEC), 0);
    const FileDescriptor out{said[0]};
    FileDescriptor in{said[1]};
    const std::string listen = address();
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(in.get(), STDOUT_FILENO);
      const FileDescriptor log{
          ::open((folder_ / "serve.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
      ::dup2(log.get(), STDERR_FILENO);
      ::execl(ZEUS_PROGRAM, ZEUS_PROGRAM, "serve", "--listen", listen.c_str(), "--database", database_.c_str(),
              nullptr);
      ::_exit(127);
    }
    in.close();
    ++starts_;
    char first = 0;
    ASSERT_EQ(::read(out.get(), &first, 1), 1) << "the server did not start";
  }
  void end(int signal) const {
    ::kill(process_, signal);
    ::waitpid(process_, nullptr, 0);
  }

  std::filesystem::path folder_;
  std::string database_;
  pid_t process_ = -1;
  int starts_ = 0;
};

records::JobDefinition definition_of(const optimize::JobSpec& spec, std::string_view policy) {
  return {.batch_sizes = spec.batch_sizes,
          .default_batch_size = spec.default_batch_size,
          .target = {},
          .max_epochs = spec.max_epochs,
          .eta = spec.eta,
          .beta = spec.beta,
          .window = spec.window,
          .policy = std::string{policy},
          .seed = spec.seed,
          .max_slowdown = {},
          .device = {.model = "V100", .gpus = 1, .max_power = spec.max_power, .power_limits = spec.power_limits}};
}

std::vector<records::GpuEnergy> measured(Joules energy) {
  return {{.gpu = "GPU-0", .energy = {.value = energy, .uncertainty = {}, .systematic = {}}}};
}

// Replays a simulated history with clients, and compares every answer with it.
class Replay {
 public:
  Replay(ServeProcess& server, const optimize::JobSpec& spec, std::string_view policy)
      : server_{server},
        definition_{definition_of(spec, policy)},
        owner_{jobs::this_site(clock_, FileTree{}).owner},
        simulator_{spec, optimize::make_policy(policy, spec)} {
    connect();
    client_->make(
        {.method = "PUT", .path = remote_jobs::job_path(job_name), .body = records::json_line(definition_), .key = {}});
  }

  void go_through(const simulate::SimulatedJob& simulated) {
    for (const records::JobEvent& event : simulated.events) {
      std::visit([this](const auto& one) { step(one); }, event);
      simulator_.apply(event);
      if (testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }

  // The record, read from another server than the one that wrote it.
  void compare_record() {
    server_.start_anew();
    connect();
    const auto view = client_->get<records::JobView>(remote_jobs::job_path(job_name, "?all=true"));
    ASSERT_EQ(view.tries.size(), tries_.size());
    for (const records::TryView& shown : view.tries) {
      const Known& known = tries_.at(shown.number - 1);
      SCOPED_TRACE(fmt::format("try {} on record", shown.number));
      EXPECT_EQ(shown.recurrence, known.ended.recurrence + 1);
      EXPECT_EQ(shown.batch_size, known.ended.batch_size);
      EXPECT_EQ(shown.outcome, known.ended.outcome);
      EXPECT_EQ(shown.epochs, known.ended.epochs);
      EXPECT_EQ(shown.time, known.ended.time);
      ASSERT_TRUE(shown.energy);
      EXPECT_EQ(shown.energy->value, known.ended.energy);
      EXPECT_EQ(shown.purpose, known.purpose);
      EXPECT_EQ(shown.budget, known.budget);
    }
  }

  [[nodiscard]] std::size_t tries() const { return tries_.size(); }
  [[nodiscard]] std::size_t profiles() const { return profiles_; }

 private:
  struct Known {
    records::TryPurpose purpose = records::TryPurpose::exploit;
    std::optional<Joules> budget;
    records::TryEnded ended;
  };

  void connect() { client_.emplace(remote_jobs::server_address(server_.address(), Environment{}), ""); }

  template <typename Answer, typename Body>
  Answer ask(std::uint64_t recurrence, std::string_view operation, const Body& body) {
    return client_->change<Answer>(
        {.path = remote_jobs::job_path(job_name, fmt::format("/recurrences/{}/{}", recurrence + 1, operation)),
         .body = records::json_line(body),
         .key = fmt::format("request {}", ++requests_)});
  }

  void begin_unless_begun(std::uint64_t recurrence) {
    if (recurrence < begun_) {
      return;
    }
    const auto begun = client_->change<protocol::BegunRecurrence>(
        {.path = remote_jobs::job_path(job_name, "/recurrences"),
         .body =
             records::json_line(protocol::BeginRecurrence{.device = definition_.device, .owner = owner_, .lease = {}}),
         .key = fmt::format("request {}", ++requests_)});
    ASSERT_EQ(begun.recurrence, recurrence + 1);
    EXPECT_EQ(begun.definition.policy, definition_.policy);
    ++begun_;
  }

  protocol::NextAnswer next(std::uint64_t recurrence) {
    begin_unless_begun(recurrence);
    return ask<protocol::NextAnswer>(recurrence, "next", protocol::AskNext{});
  }

  void step(const records::TrySubmitted& event) {
    const optimize::Action expected = simulator_.next(event.recurrence, event.try_number);
    ASSERT_TRUE(std::holds_alternative<records::TryPlan>(expected));
    const auto& decided = std::get<records::TryPlan>(expected);
    ASSERT_EQ(decided.batch_size, event.plan.batch_size);
    ASSERT_EQ(decided.purpose, event.plan.purpose);
    const protocol::NextAnswer answer = next(event.recurrence);
    ASSERT_TRUE(std::holds_alternative<protocol::RunAnswer>(answer)) << "try " << event.try_number;
    const auto& run = std::get<protocol::RunAnswer>(answer);
    SCOPED_TRACE(fmt::format("try {}", event.try_number));
    EXPECT_EQ(run.try_number, event.try_number + 1);
    ASSERT_EQ(run.plan.batch_size, event.plan.batch_size);
    EXPECT_EQ(run.plan.purpose, event.plan.purpose);
    EXPECT_EQ(run.plan.limit, decided.limit);
    EXPECT_EQ(run.plan.max_epochs, decided.max_epochs);
    EXPECT_EQ(run.plan.budget, decided.budget);
    EXPECT_FALSE(run.why.empty());
    tries_.push_back({.purpose = run.plan.purpose, .budget = run.plan.budget, .ended = {}});
  }
  void step(const records::LimitsProfiled& event) {
    const bool beforehand = event.time > Seconds{};
    if (beforehand) {
      const optimize::Action expected = simulator_.next(event.recurrence, tries_.size());
      ASSERT_TRUE(std::holds_alternative<records::ProfileAsked>(expected));
      const protocol::NextAnswer answer = next(event.recurrence);
      ASSERT_TRUE(std::holds_alternative<protocol::ProfileAnswer>(answer)) << "recurrence " << event.recurrence;
      const auto& profile = std::get<protocol::ProfileAnswer>(answer);
      EXPECT_EQ(profile.asked.batch_size, event.batch_size);
      EXPECT_EQ(profile.asked.limits, std::get<records::ProfileAsked>(expected).limits);
    }
    ++profiles_;
    ask<protocol::KnownOfBatchSize>(
        event.recurrence, "profiled",
        records::LimitsMeasured{.batch_size = event.batch_size,
                                .limits = event.limits,
                                .charged = beforehand ? measured(event.energy) : std::vector<records::GpuEnergy>{},
                                .time = event.time});
  }
  void step(const records::TryEnded& event) {
    tries_.at(event.try_number).ended = event;
    const auto now = ask<protocol::RecurrenceNow>(
        event.recurrence, "finished",
        records::TryOver{
            .try_number = event.try_number + 1,
            .result = {.outcome = event.outcome,
                       .progress = {.epochs = event.epochs, .gpus = measured(event.energy), .time = event.time},
                       .exit_code = 0}});
    if (reached(event.outcome)) {
      EXPECT_EQ(now.state, records::RecurrenceState::reached);
      if (++over_ % recurrences_of_a_server == 0) {
        server_.start_anew();
        connect();
      }
    }
  }
  // The simulator's epochs all cost exactly what was measured for their limit, its trainings have no start, and it
  // never gives up.
  template <typename Other>
  void step(const Other& /*event*/) {
    FAIL() << "a simulated training contained new information";
  }

  SystemClock clock_;
  ServeProcess& server_;
  records::JobDefinition definition_;
  records::JobOwner owner_;
  // The simulator's own policy, queried at each step.
  optimize::RecurringJob simulator_;
  std::optional<remote_jobs::ServiceClient> client_;
  std::vector<Known> tries_;
  std::uint64_t begun_ = 0;
  std::uint64_t over_ = 0;
  std::uint64_t requests_ = 0;
  std::size_t profiles_ = 0;
};

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const physics::Workload& workload : physics::workloads()) {
    names.emplace_back(workload.name());
  }
  return names;
}

class Decisions : public testing::TestWithParam<std::tuple<std::string, std::string, std::string, int>> {};

TEST_P(Decisions, AreTheSimulatorsOverHttp) {
  const auto& [database, workload_name, policy, in_flight] = GetParam();
  const simulate::Workload workload =
      simulate::model_workload(physics::workload(workload_name), physics::preset("V100"));
  const simulate::Stage stage{workload, 0.5};
  const std::array<simulate::Phase, 1> phases = {simulate::Phase{.from_recurrence = 0, .stage = &stage, .device = {}}};
  const simulate::SimulationOptions options{.recurrences = recurrences, .in_flight = in_flight};
  const simulate::PolicyFactory factory = [&name = policy](const optimize::JobSpec& spec) {
    return optimize::make_policy(name, spec);
  };
  const simulate::SimulatedJob simulated = simulate_job(phases, options, factory, seed, true);

  const test::TemporaryFolder folder;
  std::string where = (folder.path() / "jobs.sqlite").string();
  if (database == "postgresql") {
    test::PostgresServer& postgres = test::PostgresServer::of_program();
    where = postgres.address(postgres.make_database());
  }
  ServeProcess server{folder.path(), where};
  Replay replay{server, job_spec(stage, options, seed), policy};
  replay.go_through(simulated);
  if (HasFatalFailure()) {
    return;
  }
  EXPECT_EQ(replay.tries(), simulated.tries.size());
  EXPECT_EQ(server.starts(), 1 + static_cast<int>(recurrences / recurrences_of_a_server));
  replay.compare_record();
  fmt::print("{} tries, limits measured {} times\n", replay.tries(), replay.profiles());
}

INSTANTIATE_TEST_SUITE_P(All, Decisions,
                         testing::Combine(testing::Values("sqlite", "postgresql"), testing::ValuesIn(workload_names()),
                                          testing::Values("zeus", "lookahead"), testing::Values(1, 2)),
                         [](const auto& one) {
                           return fmt::format("{}_{}_{}_{}", std::get<0>(one.param), std::get<1>(one.param),
                                              std::get<2>(one.param), std::get<3>(one.param));
                         });

}  // namespace
}  // namespace zeus::server
