// Written by bench/fit_physics.cpp (see docs/physics.md); do not edit by hand.
#include "physics/fitted.hpp"

#include <array>

namespace zeus::physics {

namespace {

constexpr std::array<FittedProfile, 68> v100_table{{
    {"cifar100/shufflenetv2/adadelta", 8, {Seconds{241.569}, 0.11368, 0.13253}},
    {"cifar100/shufflenetv2/adadelta", 16, {Seconds{124.616}, 0.11115, 0.21956}},
    {"cifar100/shufflenetv2/adadelta", 32, {Seconds{65.0455}, 0.19296, 0.28813}},
    {"cifar100/shufflenetv2/adadelta", 64, {Seconds{32.8726}, 0.68247, 0.2666}},
    {"cifar100/shufflenetv2/adadelta", 128, {Seconds{16.7909}, 0.69427, 0.40867}},
    {"cifar100/shufflenetv2/adadelta", 256, {Seconds{9.99714}, 0.72303, 0.65123}},
    {"cifar100/shufflenetv2/adadelta", 512, {Seconds{7.96215}, 0.68024, 1.1216}},
    {"cifar100/shufflenetv2/adadelta", 1024, {Seconds{7.16604}, 0.65261, 1.3619}},
    {"cifar100/shufflenetv2/adadelta", 2048, {Seconds{7.32685}, 0.5733, 1.5302}},
    {"cifar100/shufflenetv2/adadelta", 4096, {Seconds{8.05693}, 0.5267, 1.6537}},
    {"cifar100/shufflenetv2/adam", 8, {Seconds{225.114}, 0.19467, 0.083168}},
    {"cifar100/shufflenetv2/adam", 16, {Seconds{115.767}, 0.22962, 0.11347}},
    {"cifar100/shufflenetv2/adam", 32, {Seconds{58.6449}, 0.49947, 0.10914}},
    {"cifar100/shufflenetv2/adam", 64, {Seconds{29.9843}, 0.71658, 0.2666}},
    {"cifar100/shufflenetv2/adam", 128, {Seconds{15.5912}, 0.64904, 0.45916}},
    {"cifar100/shufflenetv2/adam", 256, {Seconds{9.49678}, 0.74364, 0.65123}},
    {"cifar100/shufflenetv2/adam", 512, {Seconds{7.59636}, 0.65163, 1.2121}},
    {"cifar100/shufflenetv2/adam", 1024, {Seconds{6.92103}, 0.66844, 1.3619}},
    {"cifar100/shufflenetv2/adam", 2048, {Seconds{7.11626}, 0.6184, 1.4719}},
    {"cifar100/shufflenetv2/adam", 4096, {Seconds{8.12922}, 0.52456, 1.5907}},
    {"imagenet/resnet50/adadelta", 8, {Seconds{5445.22}, 0.86388, 0.99824}},
    {"imagenet/resnet50/adadelta", 16, {Seconds{4121.65}, 0.84301, 1.2601}},
    {"imagenet/resnet50/adadelta", 32, {Seconds{3541.21}, 0.86946, 1.3619}},
    {"imagenet/resnet50/adadelta", 64, {Seconds{3233.65}, 0.83315, 1.5302}},
    {"imagenet/resnet50/adadelta", 128, {Seconds{3075.74}, 0.82416, 1.6537}},
    {"imagenet/resnet50/adadelta", 192, {Seconds{3030.56}, 0.81368, 1.6537}},
    {"imagenet/resnet50/adadelta", 256, {Seconds{2985.67}, 0.81137, 1.7192}},
    {"imagenet/resnet50/adadelta", 360, {Seconds{2995.17}, 0.7832, 1.7873}},
    {"librispeech/deepspeech2/adamw", 2, {Seconds{42463.9}, 0.86451, 0.45916}},
    {"librispeech/deepspeech2/adamw", 4, {Seconds{24387.4}, 0.84526, 0.45916}},
    {"librispeech/deepspeech2/adamw", 8, {Seconds{13669}, 0.86484, 0.47734}},
    {"librispeech/deepspeech2/adamw", 12, {Seconds{10155.8}, 0.84281, 0.51588}},
    {"librispeech/deepspeech2/adamw", 16, {Seconds{8463.29}, 0.84051, 0.51588}},
    {"librispeech/deepspeech2/adamw", 24, {Seconds{6517.34}, 0.74687, 1.0378}},
    {"librispeech/deepspeech2/adamw", 32, {Seconds{5651.43}, 0.74693, 1.0789}},
    {"librispeech/deepspeech2/adamw", 48, {Seconds{5168.24}, 0.67798, 1.31}},
    {"librispeech/deepspeech2/adamw", 56, {Seconds{5166.84}, 0.65225, 1.3619}},
    {"librispeech/deepspeech2/adamw", 64, {Seconds{5399.04}, 0.65338, 1.31}},
    {"librispeech/deepspeech2/adamw", 72, {Seconds{5293.82}, 0.6397, 1.3619}},
    {"librispeech/deepspeech2/adamw", 96, {Seconds{5375.24}, 0.56931, 1.4158}},
    {"librispeech/deepspeech2/adamw", 128, {Seconds{5476.99}, 0.55964, 1.4719}},
    {"librispeech/deepspeech2/adamw", 156, {Seconds{5714}, 0.54655, 1.5302}},
    {"librispeech/deepspeech2/adamw", 192, {Seconds{5914.07}, 0.54162, 1.4719}},
    {"movielens-1m/ncf/adam", 4, {Seconds{3781.66}, 0.16839, 0.08}},
    {"movielens-1m/ncf/adam", 8, {Seconds{1895.12}, 0.058157, 0.22825}},
    {"movielens-1m/ncf/adam", 16, {Seconds{986.676}, 0.062191, 0.2112}},
    {"movielens-1m/ncf/adam", 32, {Seconds{482.752}, 0.14754, 0.08}},
    {"movielens-1m/ncf/adam", 64, {Seconds{253.944}, 0.035703, 0.32373}},
    {"movielens-1m/ncf/adam", 128, {Seconds{124.453}, 0.16323, 0.08}},
    {"movielens-1m/ncf/adam", 256, {Seconds{62.0118}, 0.018173, 2.0081}},
    {"movielens-1m/ncf/adam", 512, {Seconds{33.7117}, 0.11853, 0.08}},
    {"movielens-1m/ncf/adam", 1024, {Seconds{19.4834}, 0.044575, 0.2666}},
    {"movielens-1m/ncf/adam", 2048, {Seconds{12.2608}, 0.018712, 0.73169}},
    {"movielens-1m/ncf/adam", 4096, {Seconds{10.3064}, 0.014161, 0.73169}},
    {"movielens-1m/ncf/adam", 8192, {Seconds{8.00775}, 0.019065, 0.53631}},
    {"movielens-1m/ncf/adam", 16384, {Seconds{7.08292}, 0.0065637, 1.2121}},
    {"sentiment140/bert_base_uncased/adamw", 8, {Seconds{6878.11}, 0.92474, 0.60257}},
    {"sentiment140/bert_base_uncased/adamw", 16, {Seconds{4112.37}, 0.85578, 1.3619}},
    {"sentiment140/bert_base_uncased/adamw", 32, {Seconds{3612.23}, 0.85551, 1.4158}},
    {"sentiment140/bert_base_uncased/adamw", 64, {Seconds{3596.1}, 0.84198, 1.4158}},
    {"sentiment140/bert_base_uncased/adamw", 128, {Seconds{3544.69}, 0.84956, 1.5907}},
    {"squad/bert_base_uncased/adamw", 8, {Seconds{1353.43}, 0.85056, 1.5907}},
    {"squad/bert_base_uncased/adamw", 12, {Seconds{1373.63}, 0.85108, 1.5907}},
    {"squad/bert_base_uncased/adamw", 16, {Seconds{1356.33}, 0.85136, 1.7873}},
    {"squad/bert_base_uncased/adamw", 24, {Seconds{1449.23}, 0.86732, 1.7192}},
    {"squad/bert_base_uncased/adamw", 32, {Seconds{1425.92}, 0.85344, 1.858}},
    {"squad/bert_base_uncased/adamw", 48, {Seconds{1520.38}, 0.85769, 1.7873}},
    {"squad/bert_base_uncased/adamw", 56, {Seconds{1437.13}, 0.82888, 2.0081}},
}};

constexpr std::array<FittedProfile, 53> a40_table{{
    {"cifar100/shufflenetv2/adadelta", 8, {Seconds{224.741}, 0.55216, 0.08}},
    {"cifar100/shufflenetv2/adadelta", 16, {Seconds{111.538}, 0.74183, 0.08}},
    {"cifar100/shufflenetv2/adadelta", 32, {Seconds{58.6066}, 0.96338, 0.089884}},
    {"cifar100/shufflenetv2/adadelta", 64, {Seconds{31.8802}, 0.97637, 0.12748}},
    {"cifar100/shufflenetv2/adadelta", 128, {Seconds{16.8258}, 0.8685, 0.2666}},
    {"cifar100/shufflenetv2/adadelta", 256, {Seconds{10.5801}, 0.83536, 0.45916}},
    {"cifar100/shufflenetv2/adadelta", 512, {Seconds{9.27836}, 0.84405, 0.55754}},
    {"cifar100/shufflenetv2/adadelta", 1024, {Seconds{8.57621}, 0.79608, 0.62643}},
    {"cifar100/shufflenetv2/adadelta", 2048, {Seconds{7.95742}, 0.63922, 0.99824}},
    {"cifar100/shufflenetv2/adadelta", 4096, {Seconds{8.57562}, 0.59484, 1.0789}},
    {"cifar100/shufflenetv2/adadelta", 8192, {Seconds{10.4609}, 0.51224, 1.2121}},
    {"imagenet/resnet50/adadelta", 8, {Seconds{5815.96}, 0.95434, 0.51588}},
    {"imagenet/resnet50/adadelta", 16, {Seconds{4935.04}, 0.89702, 0.57962}},
    {"imagenet/resnet50/adadelta", 32, {Seconds{3811.46}, 0.72674, 1.0378}},
    {"imagenet/resnet50/adadelta", 64, {Seconds{3369.51}, 0.70862, 1.2121}},
    {"imagenet/resnet50/adadelta", 128, {Seconds{3258.11}, 0.70892, 1.2601}},
    {"imagenet/resnet50/adadelta", 192, {Seconds{3257.56}, 0.7022, 1.31}},
    {"imagenet/resnet50/adadelta", 256, {Seconds{3259.53}, 0.67081, 1.3619}},
    {"imagenet/resnet50/adadelta", 360, {Seconds{3461.96}, 0.67072, 1.31}},
    {"imagenet/resnet50/adadelta", 512, {Seconds{3616.62}, 0.66861, 1.31}},
    {"librispeech/deepspeech2/adamw", 8, {Seconds{10453.4}, 0.73277, 0.67702}},
    {"librispeech/deepspeech2/adamw", 16, {Seconds{6280.15}, 0.61299, 0.88847}},
    {"librispeech/deepspeech2/adamw", 32, {Seconds{5062.57}, 0.52264, 0.92365}},
    {"librispeech/deepspeech2/adamw", 64, {Seconds{4906.09}, 0.48782, 1.0378}},
    {"librispeech/deepspeech2/adamw", 128, {Seconds{6820.04}, 0.47636, 1.0378}},
    {"librispeech/deepspeech2/adamw", 192, {Seconds{9458.23}, 0.46851, 1.0789}},
    {"movielens-1m/ncf/adam", 8, {Seconds{1720.25}, 0.52363, 0.08}},
    {"movielens-1m/ncf/adam", 16, {Seconds{852.113}, 0.54, 0.08}},
    {"movielens-1m/ncf/adam", 32, {Seconds{431.8}, 0.4899, 0.08}},
    {"movielens-1m/ncf/adam", 64, {Seconds{225.948}, 0.53273, 0.08}},
    {"movielens-1m/ncf/adam", 128, {Seconds{114.283}, 0.030909, 2.7396}},
    {"movielens-1m/ncf/adam", 256, {Seconds{63.0549}, 0.40632, 0.08}},
    {"movielens-1m/ncf/adam", 512, {Seconds{34.1023}, 0.025023, 2.5349}},
    {"movielens-1m/ncf/adam", 1024, {Seconds{20.2966}, 0.22904, 0.097142}},
    {"movielens-1m/ncf/adam", 2048, {Seconds{13.5067}, 0.16462, 0.10499}},
    {"movielens-1m/ncf/adam", 4096, {Seconds{10.3532}, 0.014653, 2.6353}},
    {"movielens-1m/ncf/adam", 8192, {Seconds{8.80231}, 0.041839, 0.60257}},
    {"movielens-1m/ncf/adam", 16384, {Seconds{8.40781}, 0.098678, 0.20315}},
    {"movielens-1m/ncf/adam", 32768, {Seconds{8.38497}, 0.011332, 2.5349}},
    {"sentiment140/bert_base_uncased/adamw", 8, {Seconds{6359.94}, 0.97713, 0.34988}},
    {"sentiment140/bert_base_uncased/adamw", 16, {Seconds{3521.03}, 0.9756, 0.44167}},
    {"sentiment140/bert_base_uncased/adamw", 32, {Seconds{2377.94}, 0.97756, 0.60257}},
    {"sentiment140/bert_base_uncased/adamw", 64, {Seconds{2187.93}, 0.96363, 0.70382}},
    {"sentiment140/bert_base_uncased/adamw", 128, {Seconds{1946.25}, 0.92038, 0.85464}},
    {"sentiment140/bert_base_uncased/adamw", 256, {Seconds{1901.78}, 0.90863, 0.92365}},
    {"squad/bert_base_uncased/adamw", 8, {Seconds{892.674}, 0.83945, 0.88847}},
    {"squad/bert_base_uncased/adamw", 12, {Seconds{884.785}, 0.86816, 0.96022}},
    {"squad/bert_base_uncased/adamw", 16, {Seconds{857.915}, 0.87008, 1.0378}},
    {"squad/bert_base_uncased/adamw", 24, {Seconds{838.495}, 0.87177, 1.0789}},
    {"squad/bert_base_uncased/adamw", 32, {Seconds{845.768}, 0.87309, 1.0789}},
    {"squad/bert_base_uncased/adamw", 48, {Seconds{850.343}, 0.87114, 1.1216}},
    {"squad/bert_base_uncased/adamw", 56, {Seconds{851.661}, 0.86245, 1.166}},
    {"squad/bert_base_uncased/adamw", 72, {Seconds{865.482}, 0.86765, 1.166}},
}};

}  // namespace

PowerCurve fitted_v100() {
  return {.waiting = Watts{34.527},
          .dynamic = Watts{304.258},
          .voltage_floor = 0.5211,
          .voltage_knee = 0.4895,
          .voltage_bend = 1.2235,
          .memory_part = 0.1825,
          .memory_time = 0.3977,
          .lowest_capped = 0.0980,
          .overlap = 2.5693};
}

PowerCurve fitted_a40() {
  return {.waiting = Watts{77.766},
          .dynamic = Watts{293.352},
          .voltage_floor = 0.5562,
          .voltage_knee = 0.7344,
          .voltage_bend = 1.2903,
          .memory_part = 0.2357,
          .memory_time = 0.0775,
          .lowest_capped = 0.1952,
          .overlap = 1.3725};
}

std::span<const FittedProfile> v100_profiles() {
  return v100_table;
}

std::span<const FittedProfile> a40_profiles() {
  return a40_table;
}

}  // namespace zeus::physics
