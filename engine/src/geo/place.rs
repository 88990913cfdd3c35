//! Places: continents, subdivisions, points on the earth.

use super::Country;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Continent: one of `AF`, `AN`, `AS`, `EU`, `NA`, `OC`, `SA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Continent([u8; 2]);

impl Continent {
    /// Every code, for error messages.
    pub const ALL: [&'static str; 7] = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"];

    /// Takes one of the codes, in upper case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let &[a, b] = text.as_bytes() else { return None };
        Self::ALL.contains(&text).then_some(Self([a, b]))
    }

    /// The two letters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("??")
    }
}

impl fmt::Display for Continent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Principal subdivision of a country: an ISO 3166-2 code, `US-CA`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subdivision {
    /// The country.
    pub country: Country,
    /// One to three letters or digits, filled up with zeros.
    code: [u8; 3],
}

impl Subdivision {
    /// The part behind the hyphen, as databases give it: one to three upper-case letters or digits.
    #[must_use]
    pub fn new(country: Country, text: &str) -> Option<Self> {
        let fits = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
        let code = match *text.as_bytes() {
            [a] => [a, 0, 0],
            [a, b] => [a, b, 0],
            [a, b, c] => [a, b, c],
            _ => return None,
        };
        text.bytes().all(fits).then_some(Self { country, code })
    }

    /// Takes the whole code, `US-CA`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (country, code) = text.split_once('-')?;
        Self::new(Country::parse(country)?, code)
    }
}

impl fmt::Display for Subdivision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = std::str::from_utf8(&self.code).unwrap_or("???");
        write!(f, "{}-{}", self.country, code.trim_end_matches('\0'))
    }
}

impl TryFrom<String> for Continent {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no continent"))
    }
}

impl From<Continent> for String {
    fn from(code: Continent) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Subdivision {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| format!("`{text}` is no ISO 3166-2 code"))
    }
}

impl From<Subdivision> for String {
    fn from(code: Subdivision) -> Self {
        code.to_string()
    }
}

/// Mean radius of the earth, kilometres.
const EARTH_KM: f64 = 6371.0;

/// A point on the earth, kept as a unit vector: distances need no trigonometry, and neither the date line nor a pole
/// is anything special.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point([f32; 3]);

impl Point {
    /// From degrees: latitude −90 to 90, longitude −180 to 180.
    #[must_use]
    pub fn new(lat: f64, lon: f64) -> Option<Self> {
        if !(-90.0..=90.0).contains(&lat) || !(-180.0..=180.0).contains(&lon) {
            return None;
        }
        let (sin_lat, cos_lat) = lat.to_radians().sin_cos();
        let (sin_lon, cos_lon) = lon.to_radians().sin_cos();
        let vector = [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat];
        Some(Self(vector.map(|part| part as f32)))
    }

    /// Square of the straight line between two points, in earth radii, 0 to 4: grows with the great-circle distance,
    /// and so orders points by it.
    #[must_use]
    #[inline]
    pub fn chord_squared(self, other: Self) -> f64 {
        let square = |a: f32, b: f32| (f64::from(a) - f64::from(b)).powi(2);
        let ([x, y, z], [u, v, w]) = (self.0, other.0);
        square(x, u) + square(y, v) + square(z, w)
    }

    /// Great-circle distance, kilometres.
    #[must_use]
    pub fn distance_km(self, other: Self) -> f64 {
        2.0 * (self.chord_squared(other).sqrt() / 2.0).min(1.0).asin() * EARTH_KM
    }

    /// Latitude and longitude, degrees.
    #[must_use]
    pub fn degrees(self) -> (f64, f64) {
        let [x, y, z] = self.0.map(f64::from);
        (z.atan2(x.hypot(y)).to_degrees(), y.atan2(x).to_degrees())
    }
}

/// Where an address is, as far as a city database knows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Place {
    /// Continent.
    pub continent: Option<Continent>,
    /// Country.
    pub country: Option<Country>,
    /// The largest subdivision that the database names.
    pub subdivision: Option<Subdivision>,
    /// Latitude and longitude.
    pub point: Option<Point>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lat: f64, lon: f64) -> Point {
        Point::new(lat, lon).unwrap_or_else(|| panic!("{lat} {lon}"))
    }

    #[test]
    fn distances_are_right_at_the_date_line_and_the_poles() {
        let km = |a: (f64, f64), b: (f64, f64)| point(a.0, a.1).distance_km(point(b.0, b.1));
        let near = |got: f64, wanted: f64| assert!((got - wanted).abs() < 1.0, "{got} {wanted}");
        // A degree is 111.19 km.
        near(km((0.0, 179.5), (0.0, -179.5)), 111.19);
        near(km((0.0, 180.0), (0.0, -180.0)), 0.0);
        near(km((90.0, 0.0), (90.0, 123.0)), 0.0);
        near(km((89.5, 0.0), (89.5, 180.0)), 111.19);
        near(km((-89.0, -90.0), (-89.0, 90.0)), 222.39);
        near(km((90.0, 0.0), (-90.0, 0.0)), 20_015.09);
        // Berlin to New York.
        near(km((52.52, 13.405), (40.7128, -74.006)), 6385.0);
    }

    #[test]
    fn small_distances_keep_their_order() {
        let home = point(52.52, 13.405);
        let mut last = -1.0;
        for step in 0..50 {
            let there = home.chord_squared(point(52.52, 13.405 + f64::from(step) * 1e-4));
            assert!(there > last, "{step}");
            last = there;
        }
    }

    #[test]
    fn points_come_back_as_degrees_and_impossible_ones_do_not_exist() {
        for (lat, lon) in [(0.0, 0.0), (52.52, 13.405), (-33.87, 151.2), (10.0, -179.9)] {
            let back = point(lat, lon).degrees();
            assert!(
                (back.0 - lat).abs() < 1e-4 && (back.1 - lon).abs() < 1e-4,
                "{back:?}"
            );
        }
        for (lat, lon) in [(90.1, 0.0), (0.0, 180.5), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert_eq!(Point::new(lat, lon), None);
        }
    }

    #[test]
    fn codes_of_continents_and_subdivisions_are_checked() {
        assert_eq!(
            Continent::parse("EU").map(|c| c.to_string()),
            Some("EU".to_owned())
        );
        assert_eq!((Continent::parse("eu"), Continent::parse("XX")), (None, None));
        for code in ["US-CA", "GB-ENG", "AT-9"] {
            assert_eq!(
                Subdivision::parse(code).map(|s| s.to_string()).as_deref(),
                Some(code)
            );
        }
        for code in ["CA", "us-CA", "US-", "US-CALI", "US-ca", "US-C\0"] {
            assert_eq!(Subdivision::parse(code), None, "{code}");
        }
    }
}
