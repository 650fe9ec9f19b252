#include "base/portable_math.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace zeus::portable {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts: the first has 32 trailing zero bits, so that multiples up to 2^11 of it are exact.
constexpr double ln2_high = 6.93147180369123816490e-01;
constexpr double ln2_low = 1.90821492927058770002e-10;
constexpr double inverse_ln2 = 1.44269504088896338700e+00;

constexpr int mantissa_bits = 52;
constexpr int exponent_bias = 1023;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + exponent_bias) << mantissa_bits);
}

// Horner's rule, highest coefficient first.
template <std::size_t N>
constexpr double polynomial(const std::array<double, N>& coefficients, double x) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < N; ++i) {
    sum = sum * x + coefficients[i];
  }
  return sum;
}

// 1/13! ... 1/2!, for exp(r) - 1 - r on |r| <= ln2 / 2.
constexpr std::array<double, 12> exp_series = [] {
  std::array<double, 12> series{};
  double factorial = 1.0;
  for (std::size_t n = 2; n <= 13; ++n) {
    factorial *= static_cast<double>(n);
    series[13 - n] = 1.0 / factorial;
  }
  return series;
}();

// 2/25 ... 2/5, 2/3, for atanh: ln((1+s)/(1-s)) = 2s + s * z * (2/3 + z * (2/5 + ...)), z = s * s <= 0.0295.
constexpr std::array<double, 12> log_series = [] {
  std::array<double, 12> series{};
  for (std::size_t k = 1; k <= 12; ++k) {
    series[12 - k] = 2.0 / static_cast<double>(2 * k + 1);
  }
  return series;
}();

// ln(1 + f) for |f| small enough that 1 + f lies in [1/sqrt2, sqrt2], without forming 1 + f.
double log_near_one(double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half_square = 0.5 * f * f;
  // ln(1+f) = f - f^2/2 + s * (f^2/2 + z * series): the large part f is exact.
  return f - (half_square - s * (half_square + z * polynomial(log_series, z)));
}

// x = mantissa * 2^exponent with the mantissa in (1/sqrt2, sqrt2], for finite x > 0.
struct Decomposed {
  double mantissa;
  int exponent;
};

Decomposed decompose(double x) {
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= power_of_two(54);
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> mantissa_bits) - exponent_bias;
  constexpr std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
  const double mantissa =
      std::bit_cast<double>((bits & mantissa_mask) | (static_cast<std::uint64_t>(exponent_bias) << mantissa_bits));
  constexpr double sqrt2 = 1.4142135623730951;
  return mantissa > sqrt2 ? Decomposed{mantissa * 0.5, exponent + 1} : Decomposed{mantissa, exponent};
}

// The logarithm of anything that is not a positive finite number.
double log_at_the_edges(double x) {
  if (x == infinity) {
    return infinity;
  }
  return x == 0.0 ? -infinity : not_a_number;
}

}  // namespace

double exp(double x) {
  if (std::isnan(x)) {
    return x;
  }
  if (x > 709.782712893384) {
    return infinity;
  }
  if (x < -745.1332191019412) {
    return 0.0;
  }
  const int multiple = static_cast<int>(x * inverse_ln2 + (x < 0 ? -0.5 : 0.5));
  const double high = x - multiple * ln2_high;
  const double low = multiple * ln2_low;
  const double r = high - low;
  const double correction = (high - r) - low;
  const double result = 1.0 + (r + (correction + r * r * polynomial(exp_series, r)));
  // Scaled in two steps, so that results near the ends of the range neither overflow nor lose bits twice.
  const int half = multiple / 2;
  return result * power_of_two(half) * power_of_two(multiple - half);
}

double log(double x) {
  if (!(x > 0.0) || x == infinity) {
    return log_at_the_edges(x);
  }
  const Decomposed parts = decompose(x);
  return parts.exponent * ln2_high + (log_near_one(parts.mantissa - 1.0) + parts.exponent * ln2_low);
}

double log1p(double x) {
  if (x > -0.29 && x < 0.41) {
    return log_near_one(x);
  }
  return portable::log(1.0 + x);
}

double log2(double x) {
  if (!(x > 0.0) || x == infinity) {
    return log_at_the_edges(x);
  }
  const Decomposed parts = decompose(x);
  return parts.exponent + log_near_one(parts.mantissa - 1.0) * inverse_ln2;
}

double pow(double base, double exponent) {
  return portable::exp(exponent * portable::log(base));
}

double sin_turns(double turns) {
  turns -= std::floor(turns);  // in [0, 1)
  double sign = 1.0;
  if (turns >= 0.5) {
    turns -= 0.5;
    sign = -1.0;
  }
  if (turns > 0.25) {
    turns = 0.5 - turns;
  }
  const double x = turns * 6.283185307179586;  // in [0, pi/2]
  const double square = x * x;
  double term = x;
  double sum = x;
  for (int n = 1; n <= 11; ++n) {
    term *= -square / static_cast<double>((2 * n) * (2 * n + 1));
    sum += term;
  }
  return sign * sum;
}

double normal_density(double x) {
  constexpr double inverse_sqrt_two_pi = 0.3989422804014326779399461;
  return inverse_sqrt_two_pi * portable::exp(-0.5 * x * x);
}

// The rational approximations of W. J. Cody, "Rational Chebyshev Approximations for the Error Function", Mathematics of
// Computation 23 (1969) 631-637; their coefficients, highest power first.
double normal_cdf(double x) {
  constexpr std::array<double, 5> a = {1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
                                       3.77485237685302021e2, 3.20937758913846947e3};
  constexpr std::array<double, 5> b = {1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
                                       2.84423683343917062e3};
  constexpr std::array<double, 9> c = {2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
                                       6.61191906371416295e1,  2.98635138197400131e2,  8.81952221241769090e2,
                                       1.71204761263407058e3,  2.05107837782607147e3,  1.23033935479799725e3};
  constexpr std::array<double, 9> d = {1.0,
                                       1.57449261107098347e1,
                                       1.17693950891312499e2,
                                       5.37181101862009858e2,
                                       1.62138957456669019e3,
                                       3.29079923573345963e3,
                                       4.36261909014324716e3,
                                       3.43936767414372164e3,
                                       1.23033935480374942e3};
  constexpr std::array<double, 6> e = {1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
                                       1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4};
  constexpr std::array<double, 6> f = {1.0,
                                       2.56852019228982242e0,
                                       1.87295284992346725e0,
                                       5.27905102951428412e-1,
                                       6.05183413124413191e-2,
                                       2.33520497626869185e-3};
  constexpr double inverse_sqrt_two = 0.70710678118654752440;
  constexpr double inverse_sqrt_pi = 0.56418958354775628695;
  constexpr double end = 38.5;
  if (std::isnan(x)) {
    return x;
  }
  if (std::fabs(x) > end) {
    return x < 0 ? 0.0 : 1.0;
  }
  const double y = std::fabs(x) * inverse_sqrt_two;  // Phi(x) = erfc(-x / sqrt(2)) / 2
  if (y <= 0.46875) {
    const double half_erf = 0.5 * y * polynomial(a, y * y) / polynomial(b, y * y);
    return x < 0 ? 0.5 - half_erf : 0.5 + half_erf;
  }
  double scaled = 0.0;
  if (y <= 4.0) {
    scaled = polynomial(c, y) / polynomial(d, y);
  } else {
    const double z = 1.0 / (y * y);
    scaled = (inverse_sqrt_pi - z * polynomial(e, z) / polynomial(f, z)) / y;
  }
  const double tail = 0.5 * portable::exp(-0.5 * x * x) * scaled;
  return x < 0 ? tail : 1.0 - tail;
}

// The rational approximation of M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution",
// Applied Statistics 37 (1988) 477-484; its coefficients, highest power first.
double normal_quantile(double probability) {
  constexpr std::array<double, 8> a = {2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                                       4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                                       1.3314166789178437745e2, 3.3871328727963666080e0};
  constexpr std::array<double, 8> b = {
      5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
      5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0};
  constexpr std::array<double, 8> c = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                                       1.27045825245236838258e0,  3.64784832476320460504e0,  5.76949722146069140550e0,
                                       4.63033784615654529590e0,  1.42343711074968357734e0};
  constexpr std::array<double, 8> d = {
      1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
      6.89767334985100004550e-1, 1.67638483018380384940e0,  2.05319162663775882187e0,  1.0};
  constexpr std::array<double, 8> e = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
                                       2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0,
                                       5.46378491116411436990e0,  6.65790464350110377720e0};
  constexpr std::array<double, 8> f = {
      2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
      1.48753612908506148525e-2,  1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0};
  if (!(probability > 0.0 && probability < 1.0)) {
    return probability == 0.0 ? -infinity : (probability == 1.0 ? infinity : not_a_number);
  }
  const double q = probability - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable::log(q < 0 ? probability : 1.0 - probability));
  const double magnitude =
      r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
  return q < 0 ? -magnitude : magnitude;
}

}  // namespace zeus::portable
