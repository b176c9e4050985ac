// Logarithm and exponential that are the same on every machine.
//
// A C library's log and exp differ from one library, version and processor to another in the
// last bit. These use only additions, multiplications and divisions, which IEEE 754 fixes to
// the bit (the build keeps compilers from contracting them). Both are within 1e-15 of the exact
// value, relatively.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_RANDOM_PORTABLE_MATH_H_
#define GRAPEVINE_RANDOM_PORTABLE_MATH_H_

namespace grapevine {

// The natural logarithm. As in C: -infinity at 0, NaN below.
double PortableLog(double x);

// As in C: 0 or infinity where the result does not fit a double.
double PortableExp(double x);

// base^exponent = exp(exponent * log(base)) for base >= 0: the error grows with
// the exponent of exp, to 1e-15 * (1 + |exponent * log(base)|).
double PortablePow(double base, double exponent);

}  // namespace grapevine

#endif  // GRAPEVINE_RANDOM_PORTABLE_MATH_H_
