# frozen_string_literal: true

# A program that a test starts requires this (by RUBYOPT) where its calls are to be compared as well, as `rake
# types:rails` has it: those of Pelton's classes that are loaded when a class of pelton-rails is complete. RBS is loaded
# no earlier, because Bundler must have decided which versions of libraries are loaded, and not without RubyGems.
rails = File.expand_path("../../../pelton-rails/lib/", __dir__)
TracePoint.new(:end) do |point|
  next unless defined?(Gem) && point.path.start_with?(rails)
  require_relative "../signature_checker"
  SignatureChecker.start
  SignatureChecker.current.install
end.enable
