#include "serving/ml_energy_files.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace zeus::serving {
namespace {

BenchResult result_of(const std::string& model, const std::string& gpu) {
  BenchResult result;
  result.model = model;
  result.in_flight = 8;
  result.seed = 7;
  result.gpus = {{.index = 0, .uuid = "GPU-0", .name = gpu}};
  return result;
}

TEST(MlEnergyFolder, HasTheNamesThatTheBenchmarkGives) {
  EXPECT_EQ(ml_energy_folder(result_of("meta-llama/Llama-3.1-8B", "NVIDIA H100 80GB HBM3")),
            "llm/h100/current/run/llm/chat/results/meta-llama/Llama-3.1-8B/H100/num_gpus+1+max_num_seqs+8+seed+7");
  for (const auto& [gpu, step] : std::vector<std::pair<std::string, std::string>>{{"NVIDIA A100-SXM4-40GB", "/A100/"},
                                                                                  {"Tesla V100-PCIE-32GB", "/V100/"},
                                                                                  {"AMD Instinct MI300X", "/MI300X/"},
                                                                                  {"", "/unnamed/"}}) {
    EXPECT_NE(ml_energy_folder(result_of("a/b", gpu)).find(step), std::string::npos) << gpu;
  }
}

TEST(MlEnergyFolder, IsNeverOutsideWhateverTheServerCallsItsModel) {
  for (const auto& [model, steps] : std::vector<std::pair<std::string, std::string>>{
           {"tiny", "/local/tiny/"},
           {"/", "/local/unnamed/"},
           {"", "/local/unnamed/"},
           {"..", "/local/unnamed/"},
           {"../../etc", "/unnamed/etc/"},
           {"/models/a b+c.gguf", "/models/a-b-c.gguf/"},
           {"a/", "/a/unnamed/"},
       }) {
    EXPECT_NE(ml_energy_folder(result_of(model, "A100")).find("/results" + steps), std::string::npos)
        << model << ": " << ml_energy_folder(result_of(model, "A100"));
  }
}

TEST(MlEnergyFiles, ARunWithoutJoulesPerTokenHasNoForm) {
  BenchResult result = result_of("a/b", "A100");
  result.steady.why_no_energy_per_token = "the run is too short";
  try {
    static_cast<void>(ml_energy_files({}, result, 8));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("not known: the run is too short"), std::string::npos) << error.message();
  }
}

TEST(MlEnergyFiles, AnInterruptedRunHasNoForm) {
  BenchResult result = result_of("a/b", "A100");
  result.ended = Ended::interrupted;
  EXPECT_THROW(static_cast<void>(ml_energy_files({}, result, 8)), Error);
}

}  // namespace
}  // namespace zeus::serving
