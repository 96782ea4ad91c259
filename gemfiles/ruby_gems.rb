# frozen_string_literal: true

# Gems that come with Ruby stay those of this Ruby: newer ones would be compiled, and would come first in every other
# program.
%w[cgi date erb io-console net-protocol openssl psych rdoc stringio strscan tsort].each do |name|
  own = Gem::Specification.find_all_by_name(name).find(&:default_gem?)
  gem name, own.version.to_s, require: false if own
end
gem "irb", "< 1.15", require: false # later ones need prism
