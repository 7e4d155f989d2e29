//! Bodies of the fuzz targets: any input, in any order, at any time.
