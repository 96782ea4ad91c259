# frozen_string_literal: true

# Runs programs on Pelton instead of EventMachine, and on the gem eventmachine.

abort "#{$PROGRAM_NAME}: run it by `ruby`, without `bundle exec`: the gem eventmachine is not in this Gemfile" if defined?(Bundler)

# Ruby's options that load Pelton instead of EventMachine.
ON_PELTON = [*%w[lib pelton-eventmachine/lib].map { |path| "-I#{File.expand_path("../../#{path}", __dir__)}" }, "-rpelton/eventmachine"].freeze
