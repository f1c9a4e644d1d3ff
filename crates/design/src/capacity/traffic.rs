//! The shape of the traffic over a day, and the capacity that has to be provisioned for it.

use crate::capacity::basis::Basis;
use crate::model::Model;

/// Hours of a day.
pub const DAY: f64 = 24.0;
/// The least capacity of a table or an index.
const LEAST: f64 = 1.0;

/// The shape of the traffic over a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// The peak, as a multiple of the mean of the whole day.
    pub peak: f64,
    /// The hours of a day without traffic.
    pub idle_hours: f64,
    /// Whether peaks come faster than auto scaling follows.
    pub sudden: bool,
    /// Whether the model declares it.
    pub basis: Basis,
}

impl Shape {
    /// Returns the shape that a model declares, or even traffic.
    pub fn of(model: &Model) -> Shape {
        let traffic = &model.traffic;
        let idle_hours = traffic.idle_hours.unwrap_or_default().clamp(0.0, DAY - 1.0).round();
        let declared = traffic.peak.is_some() || traffic.idle_hours.is_some();
        Shape {
            peak: traffic.peak.unwrap_or(1.0).max(least_peak(idle_hours)),
            idle_hours,
            sudden: traffic.sudden,
            basis: if declared { Basis::Declared } else { Basis::Assumed },
        }
    }

    /// Returns the peak of a pattern or write, as a multiple of its mean: its own, or that of all traffic.
    pub fn peak_of(&self, own: Option<f64>) -> f64 {
        own.map_or(self.peak, |own| own.max(least_peak(self.idle_hours)))
    }

    /// Returns the units to provision in each hour of a day, the busiest hour first, for a load with this mean and this peak. Auto scaling
    /// keeps the load at the share `target` of the capacity. It follows a load that falls steadily from the peak; where peaks are
    /// sudden, the capacity for them is kept in every hour that is not idle.
    pub fn capacity(&self, mean: f64, peak: f64, target: f64) -> Vec<f64> {
        let busy = DAY - self.idle_hours;
        let highest = peak.max(mean * least_peak(self.idle_hours));
        // The exponent that gives the curve its mean.
        let exponent = if mean > 0.0 { (busy * highest / (DAY * mean) - 1.0).max(0.0) } else { 0.0 };
        let hour = |number: u32| {
            let hour = f64::from(number);
            if hour >= busy {
                return LEAST;
            }
            let level = if self.sudden { highest } else { highest * (1.0 - hour / busy).powf(exponent) };
            // Less than a millionth of a unit is rounding.
            (level / target - 1e-6).ceil().max(LEAST)
        };
        (0..DAY as u32).map(hour).collect()
    }

    /// Describes the shape: `peak 5 times the mean, 10 idle hours a day`.
    pub fn text(&self) -> String {
        if self.basis.is_assumed() {
            return "even traffic (assumed; declare peak and idle_hours under [traffic])".to_owned();
        }
        let idle = if self.idle_hours > 0.0 {
            format!(", {} idle hours a day", self.idle_hours)
        } else {
            String::new()
        };
        let sudden = if self.sudden { ", sudden peaks" } else { "" };
        format!("peak {:.1} times the mean{idle}{sudden}", self.peak)
    }
}

/// The smallest possible peak: idle hours concentrate the traffic of a day.
pub fn least_peak(idle_hours: f64) -> f64 {
    DAY / (DAY - idle_hours.min(DAY - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(peak: f64, idle_hours: f64, sudden: bool) -> Shape {
        Shape { peak, idle_hours, sudden, basis: Basis::Declared }
    }

    #[test]
    fn even_traffic_needs_the_same_capacity_in_every_hour() {
        assert_eq!(shape(1.0, 0.0, false).capacity(70.0, 70.0, 0.7), vec![100.0; 24]);
    }

    #[test]
    fn sudden_peaks_are_provisioned_for_in_every_hour_that_is_not_idle() {
        let day = shape(5.0, 10.0, true).capacity(70.0, 350.0, 0.7);
        assert_eq!(day.iter().filter(|units| **units == 500.0).count(), 14);
        assert_eq!(day.iter().filter(|units| **units == 1.0).count(), 10);
    }

    proptest! {
        #[test]
        fn the_capacity_covers_the_peak_and_the_traffic_of_the_day(
            mean in 0.0f64..10_000.0, factor in 1.0f64..20.0, idle in 0u32..23, sudden: bool,
        ) {
            let idle = f64::from(idle);
            let factor = factor.max(least_peak(idle));
            let day = shape(factor, idle, sudden).capacity(mean, mean * factor, 0.7);
            prop_assert_eq!(day.len(), 24);
            prop_assert!(day[0] * 0.7 >= mean * factor - 1e-5);
            prop_assert!(day.iter().sum::<f64>() * 0.7 >= mean * 24.0 - 1e-3);
            prop_assert!(day.windows(2).all(|pair| pair[0] >= pair[1]));
        }
    }
}
