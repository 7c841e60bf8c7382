// Stands in for the package `electron` in unit tests: the real one tries to download its binary when it is loaded.
throw new Error(
  'A unit test has loaded "electron". Pass what is needed of it in as a parameter, or test it in e2e/specs/shell with the substitute.',
);
