#include "server/existing_bodies.hpp"

#include "records/json_value.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>

namespace zeus::server {
namespace {

// A body with all required fields, changed or extended as given. An empty value leaves the field out.
std::string body(const std::map<std::string, std::string>& changes = {}) {
  std::map<std::string, std::string> fields{{"max_power", "300"},       {"number_of_gpus", "1"},
                                            {"gpu_model", "\"V100\""},  {"job_id_prefix", "\"m\""},
                                            {"batch_sizes", "[64,32]"}, {"default_batch_size", "32"}};
  for (const auto& [key, value] : changes) {
    fields[key] = value;
  }
  std::string text;
  for (const auto& [key, value] : fields) {
    if (!value.empty()) {
      text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", key, value);
    }
  }
  return "{" + text + "}";
}

ExistingSpec spec_of(const std::map<std::string, std::string>& changes = {}) {
  const auto read = read_existing<ExistingSpec>(body(changes));
  if (const auto* const faults = std::get_if<ExistingFaults>(&read)) {
    ADD_FAILURE() << to_json(*faults);
    return {};
  }
  return std::get<ExistingSpec>(read);
}

// "body.max_epochs value_error.number.not_gt 0", one on each line.
std::string faults_of(const ExistingFaults& faults) {
  std::string all;
  for (const ExistingFault& fault : faults) {
    std::vector<std::string> place;
    for (const auto& step : fault.place) {
      place.push_back(std::visit([](const auto& one) { return fmt::format("{}", one); }, step));
    }
    all += fmt::format("{}{} {}{}", all.empty() ? "" : "\n", fmt::join(place, "."), fault.type,
                       fault.limit ? fmt::format(" {}", *fault.limit) : "");
  }
  return all;
}

template <typename Body>
std::string faults_in(std::string_view text) {
  const auto read = read_existing<Body>(text);
  const auto* const faults = std::get_if<ExistingFaults>(&read);
  return faults == nullptr ? "none" : faults_of(*faults);
}

std::string faults_with(const std::map<std::string, std::string>& changes) {
  return faults_in<ExistingSpec>(body(changes));
}

TEST(ExistingBodies, ASpecHasTheDefaultsOfTheInterface) {
  const ExistingSpec spec = spec_of();
  EXPECT_EQ(spec.batch_sizes, (std::vector{32, 64}));
  EXPECT_FALSE(spec.job_id);
  EXPECT_EQ(spec.eta_knob, 0.5);
  EXPECT_EQ(spec.beta_knob, 2.0);
  EXPECT_EQ(spec.target_metric, 0.5);
  EXPECT_TRUE(spec.higher_is_better_metric);
  EXPECT_EQ(spec.max_epochs, 100);
  EXPECT_EQ(spec.num_pruning_rounds, 2U);
  EXPECT_EQ(spec.mab_num_explorations, 2U);
  EXPECT_FALSE(spec.mab_seed);
}

// Byte for byte as the existing server answers.
TEST(ExistingBodies, AnAnswerHasAllFieldsOfASpecInOrder) {
  EXPECT_EQ(
      records::json_line(spec_of({{"job_id", "\"m1\""}})),
      R"({"max_power":300.0,"number_of_gpus":1,"gpu_model":"V100","job_id":"m1","job_id_prefix":"m",)"
      R"("batch_sizes":[32,64],"default_batch_size":32,"eta_knob":0.5,"beta_knob":2.0,"target_metric":0.5,)"
      R"("higher_is_better_metric":true,"max_epochs":100,"num_pruning_rounds":2,"window_size":0,"mab_prior_mean":0.0,)"
      R"("mab_prior_precision":0.0,"mab_num_explorations":2,"mab_seed":null})");
}

TEST(ExistingBodies, EquivalentValuesAreAccepted) {
  const ExistingSpec spec = spec_of({{"batch_sizes", R"(["32", 64.0])"},
                                     {"eta_knob", R"("0.25")"},
                                     {"higher_is_better_metric", R"("No")"},
                                     {"max_epochs", R"(" 7 ")"},
                                     {"beta_knob", "null"},
                                     {"job_id", "17"},
                                     {"job_id_prefix", "\"1\""},
                                     {"later", "[{}]"}});
  EXPECT_EQ(spec.batch_sizes, (std::vector{32, 64}));
  EXPECT_EQ(spec.eta_knob, 0.25);
  EXPECT_FALSE(spec.higher_is_better_metric);
  EXPECT_EQ(spec.max_epochs, 7);
  EXPECT_FALSE(spec.beta_knob);
  EXPECT_EQ(spec.job_id, "17");
}

TEST(ExistingBodies, MissingFieldsAndWrongTypesAreNamed) {
  EXPECT_EQ(faults_with({{"job_id_prefix", ""}}), "body.job_id_prefix value_error.missing");
  EXPECT_EQ(faults_in<ExistingSpec>("{}"),
            "body.max_power value_error.missing\nbody.number_of_gpus value_error.missing\n"
            "body.gpu_model value_error.missing\nbody.job_id_prefix value_error.missing\n"
            "body.batch_sizes value_error.missing\nbody.default_batch_size value_error.missing");
  EXPECT_EQ(faults_with({{"batch_sizes", "\"x\""}}), "body.batch_sizes type_error.list");
  EXPECT_EQ(faults_with({{"batch_sizes", "[32,\"a\"]"}}), "body.batch_sizes.1 type_error.integer");
  EXPECT_EQ(faults_with({{"batch_sizes", "null"}}), "body.batch_sizes type_error.none.not_allowed");
  EXPECT_EQ(faults_with({{"max_epochs", "1.5"}}), "body.max_epochs type_error.integer");
  EXPECT_EQ(faults_with({{"higher_is_better_metric", "2"}}), "body.higher_is_better_metric type_error.bool");
  EXPECT_EQ(faults_with({{"job_id", "[1]"}}), "body.job_id type_error.str");
  EXPECT_EQ(faults_with({{"eta_knob", "true"}}), "body.eta_knob type_error.float");
  EXPECT_EQ(faults_with({{"target_metric", "NaN"}}), "body.target_metric type_error.float");
}

TEST(ExistingBodies, ValuesOutOfBoundsAreNamedWithTheirBounds) {
  EXPECT_EQ(faults_with({{"default_batch_size", "0"}}), "body.default_batch_size value_error.number.not_gt 0");
  EXPECT_EQ(faults_with({{"eta_knob", "2"}}), "body.eta_knob value_error.number.not_le 1");
  EXPECT_EQ(faults_with({{"beta_knob", "0"}}), "body.beta_knob value_error.number.not_gt 0");
  EXPECT_EQ(faults_with({{"max_power", "0"}}), "body.max_power value_error.number.not_gt 0");
  EXPECT_EQ(faults_with({{"num_pruning_rounds", "-1"}, {"gpu_model", "\"\""}}),
            "body.num_pruning_rounds value_error.number.not_ge 0");
  EXPECT_EQ(faults_with({{"gpu_model", "\"\""}}), "body.gpu_model value_error");
  EXPECT_EQ(faults_with({{"batch_sizes", "[]"}}), "body.batch_sizes value_error");
  EXPECT_EQ(faults_with({{"default_batch_size", "48"}}), "body.__root__ value_error");
  EXPECT_EQ(faults_with({{"job_id", "\"x\""}}), "body.__root__ value_error");
}

// The existing server accepts these, and fails on or because of them.
TEST(ExistingBodies, UnusableValuesAreRefused) {
  EXPECT_EQ(faults_with({{"batch_sizes", "[32,64,32]"}}), "body.batch_sizes value_error");
  EXPECT_EQ(faults_with({{"batch_sizes", "[0,32]"}}), "body.batch_sizes.0 value_error.number.not_gt 0");
  EXPECT_EQ(faults_with({{"batch_sizes", "[-4,32]"}}), "body.batch_sizes.0 value_error.number.not_gt 0");
  EXPECT_EQ(faults_with({{"mab_seed", "-1"}}), "body.mab_seed value_error.number.not_ge 0");
  EXPECT_EQ(faults_with({{"eta_knob", "NaN"}}), "body.eta_knob type_error.float");
  EXPECT_EQ(faults_with({{"mab_prior_precision", "-1"}}), "body.mab_prior_precision value_error.number.not_ge 0");
  EXPECT_EQ(faults_with({{"max_epochs", "1000000000000000000000000000000"}}),
            "body.max_epochs value_error.number.not_le 1000000");
  EXPECT_EQ(faults_with({{"number_of_gpus", "1e300"}}), "body.number_of_gpus value_error.number.not_le 1000000000");
  EXPECT_EQ(faults_with({{"job_id", fmt::format("\"m{}\"", std::string(200, 'x'))}}),
            "body.job_id value_error.any_str.max_length 200");
  EXPECT_EQ(faults_with({{"job_id", "\"m\\u0000\""}}), "body.job_id value_error");
  EXPECT_EQ(faults_with({{"job_id", "\"\""}, {"job_id_prefix", "\"\""}}), "body.__root__ value_error");
  EXPECT_EQ(faults_with({{"job_id_prefix", fmt::format("\"{}\"", std::string(195, 'x'))}}),
            "body.__root__ value_error");
  std::string many = "1";
  for (int size = 2; size <= 65; ++size) {
    many += fmt::format(",{}", size);
  }
  EXPECT_EQ(faults_with({{"batch_sizes", "[" + many + "]"}}), "body.batch_sizes value_error.list.max_items 64");
}

TEST(ExistingBodies, ABodyThatIsNotAnObjectIsRefusedAsAWhole) {
  for (const std::string_view text : {"", " \n", "null"}) {
    EXPECT_EQ(faults_in<ExistingTrial>(text), "body value_error.missing") << text;
  }
  for (const std::string_view text : {"5", "[]", "\"a\"", "NaN", "true"}) {
    EXPECT_EQ(faults_in<ExistingTrial>(text), "body type_error.dict") << text;
  }
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text : {std::string{"{"}, std::string{"{\"a\":1,}"}, std::string{"\xff\xfe"}, deep,
                                  std::string{"{\"a\":1e999}"}, std::string{"{\"a\":Nan}"}}) {
    EXPECT_EQ(faults_in<ExistingTrial>(text), "body json_invalid") << text.substr(0, 20);
  }
}

TEST(ExistingBodies, AMetricThatIsNotANumberIsUnknown) {
  for (const std::string_view metric : {"NaN", "Infinity", "-Infinity", "\"nan\""}) {
    const auto read = read_existing<ExistingResult>(
        fmt::format(R"({{"job_id":"a\"NaN\\","batch_size":32,"trial_number":1,"time":1.5,"energy":2,"metric":{},)"
                    R"("current_epoch":3}})",
                    metric));
    ASSERT_TRUE(std::holds_alternative<ExistingResult>(read)) << metric;
    const auto& result = std::get<ExistingResult>(read);
    EXPECT_FALSE(result.metric) << metric;
    EXPECT_EQ(result.trial, (ExistingTrial{.job_id = "a\"NaN\\", .batch_size = 32, .trial_number = 1}));
    EXPECT_EQ(result.time, Seconds{1.5});
    EXPECT_EQ(result.energy, Joules{2.0});
    EXPECT_EQ(result.current_epoch, 3);
  }
}

TEST(ExistingBodies, AnImpossibleResultIsRefused) {
  const auto result = [](std::string_view time, std::string_view energy, std::string_view epoch) {
    return faults_in<ExistingResult>(
        fmt::format(R"({{"job_id":"a","batch_size":32,"trial_number":1,"time":{},"energy":{},"metric":0,)"
                    R"("current_epoch":{}}})",
                    time, energy, epoch));
  };
  EXPECT_EQ(result("0", "0", "1"), "none");
  EXPECT_EQ(result("-1", "1", "1"), "body.time value_error.number.not_ge 0");
  EXPECT_EQ(result("1", "-5", "1"), "body.energy value_error.number.not_ge 0");
  EXPECT_EQ(result("1", "NaN", "1"), "body.energy type_error.float");
  EXPECT_EQ(result("1", "1", "0"), "body.current_epoch value_error.number.not_ge 1");
}

TEST(ExistingBodies, FaultsHaveTheFormThatTheClientsKnow) {
  const ExistingFaults faults{
      {.place = {"body", "batch_sizes", std::size_t{1}},
       .message = "ensure this value is greater than 0",
       .type = "value_error.number.not_gt",
       .limit = 0},
      {.place = {"query", "job_id"}, .message = "field required", .type = "value_error.missing", .limit = {}}};
  EXPECT_EQ(to_json(faults),
            R"({"detail":[{"loc":["body","batch_sizes",1],"msg":"ensure this value is greater than 0",)"
            R"("type":"value_error.number.not_gt","ctx":{"limit_value":0}},)"
            R"({"loc":["query","job_id"],"msg":"field required","type":"value_error.missing"}]})");
}

TEST(ExistingBodies, AQueryNamesAJob) {
  const auto job = [](std::string_view query) {
    const auto read = read_existing_job(query);
    const auto* const faults = std::get_if<ExistingFaults>(&read);
    return faults == nullptr ? std::get<std::string>(read) : faults_of(*faults);
  };
  EXPECT_EQ(job("job_id=m%2F1%20a+b"), "m/1 a b");
  EXPECT_EQ(job("x=1&job_id=m&job_id=n&y"), "n");
  EXPECT_EQ(job("job_id="), "");
  EXPECT_EQ(job("job_id=%zz"), "%zz");
  EXPECT_EQ(job(""), "query.job_id value_error.missing");
  EXPECT_EQ(job("jobid=1"), "query.job_id value_error.missing");
}

TEST(ExistingBodies, AMadeNameBeginsWithItsPrefixAndIsNewEachTime) {
  const std::string one = made_job_id("mnist");
  EXPECT_EQ(one.substr(0, 6), "mnist-");
  EXPECT_EQ(one.size(), 14U);
  EXPECT_NE(one, made_job_id("mnist"));
}

}  // namespace
}  // namespace zeus::server
