# frozen_string_literal: true

# The gems that the lab measures Pelton against. A Gemfile of its own: `bin/setup lab` installs it, and a peer that does
# not install here is left out (tmp/peers holds the names of those that did) without breaking the rest.
eval_gemfile "../Gemfile"

eval_gemfile "ruby_gems.rb"

require_relative "../pelton-lab/lib/pelton/lab/peers"
peers = Pelton::Lab::Peers::GEMS.except("dalli") # that one the tests need, too

chosen = File.expand_path("../tmp/peers", __dir__)
names = File.exist?(chosen) ? File.readlines(chosen, chomp: true) : peers.keys

gem "json", "~> 2.10", require: false # Rails 7.2.2, the last one for Ruby 3.1, cannot use json 3

group :peers do
  peers.slice(*names).each { |name, version| gem name, version, require: false }
end
