//! The macro behind the table of settings.

/// Makes one struct a section, `Settings` of all sections, and `TABLE`.
///
/// A row is: help, field, type, key in the file, default (as it would stand in the environment; empty is none),
/// `reload` or `restart`, and `secret` if it is one.
macro_rules! settings {
    ($(
        $(#[$section_doc:meta])*
        $section:ident: $Section:ident = $path:literal {
            $(
                $help:literal
                $field:ident: $type:ty = $name:literal, $default:expr, $apply:ident $(, $secret:ident)?;
            )+
        }
    )+) => {
        $(
            $(#[$section_doc])*
            #[derive(Debug, Clone, PartialEq)]
            pub struct $Section {
                $(
                    #[doc = $help]
                    pub $field: $type,
                )+
            }

            impl $Section {
                /// Types the values of this section; `None` when one of them has a problem and no default.
                fn take(loader: &mut Loader, origins: &mut BTreeMap<&'static str, Origin>) -> Option<Self> {
                    $(
                        let row = definition(concat!($path, ".", $name))?;
                        let (value, origin) = loader.take::<$type>(row);
                        origins.insert(row.name, origin);
                        let $field = value;
                    )+
                    Some(Self { $($field: $field?,)+ })
                }

                /// `(name, value)` of each setting, unmasked.
                fn shown(&self) -> Vec<(&'static str, String)> {
                    vec![$((concat!($path, ".", $name), self.$field.show()),)+]
                }

                /// Takes over what a reload may change; says what changed, and what would have.
                fn reload(&mut self, new: Self, outcome: &mut Reload) {
                    $(
                        if self.$field != new.$field {
                            let name = concat!($path, ".", $name);
                            if settings!(@reloads $apply) {
                                self.$field = new.$field;
                                outcome.applied.push(name);
                            } else {
                                outcome.ignored.push(name);
                            }
                        }
                    )+
                }
            }
        )+

        /// All settings, checked, each with where it comes from.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Settings {
            $(
                #[doc = concat!("`", $path, "`")]
                pub $section: $Section,
            )+
            origins: BTreeMap<&'static str, Origin>,
            warnings: Vec<String>,
            zone_lines: BTreeMap<String, u64>,
        }

        /// Every setting there is, in the order of the documentation.
        pub const TABLE: &[Definition] = &[
            $($(
                Definition {
                    name: concat!($path, ".", $name),
                    default: $default,
                    reloads: settings!(@reloads $apply),
                    secret: settings!(@secret $($secret)?),
                    help: $help,
                },
            )+)+
        ];

        impl Settings {
            /// Types every value and applies the rules across settings.
            pub(super) fn assemble(mut loader: Loader, files: Files) -> Result<Self, ConfigError> {
                let mut origins = BTreeMap::new();
                $(let $section = $Section::take(&mut loader, &mut origins);)+
                let settings = (|| Some(Self { $($section: $section?,)+ origins, warnings: Vec::new(), zone_lines: BTreeMap::new() }))();
                let Some(mut settings) = settings else {
                    return Err(ConfigError::Invalid(loader.problems));
                };
                // The rules across settings would be told of defaults that stand in for what is wrong.
                if loader.problems.is_empty() {
                    settings.check(&mut loader);
                }
                if files == Files::Read {
                    let problems = settings.file_problems();
                    loader.problems.extend(problems);
                }
                if !loader.problems.is_empty() {
                    return Err(ConfigError::Invalid(loader.problems));
                }
                settings.warnings = loader.warnings;
                settings.zone_lines = loader.zone_lines;
                Ok(settings)
            }

            /// `(name, value)` of each setting in the order of [`TABLE`], unmasked.
            fn shown(&self) -> Vec<(&'static str, String)> {
                let mut shown = Vec::new();
                $(shown.extend(self.$section.shown());)+
                shown
            }

            /// Takes over from newly loaded settings what a reload may change.
            pub fn reload(&mut self, new: Self) -> Reload {
                let mut outcome = Reload::default();
                let Self { $($section,)+ origins, warnings, zone_lines } = new;
                $(self.$section.reload($section, &mut outcome);)+
                for (name, origin) in origins {
                    if !outcome.ignored.contains(&name) {
                        self.origins.insert(name, origin);
                    }
                }
                self.warnings = warnings;
                self.zone_lines = zone_lines;
                outcome
            }
        }
    };
    (@reloads reload) => { true };
    (@reloads restart) => { false };
    (@secret secret) => { true };
    (@secret) => { false };
}
pub(super) use settings;
