# frozen_string_literal: true

# The way in to the gem pelton-eventmachine: `ruby -r pelton/eventmachine app.rb`. The file is here, and nowhere else,
# so that it is found whichever gem comes first on the load path, and can say which one is missing.

# Required by its path, in a clone of Pelton's repository: then neither gem is on the load path.
unless $LOAD_PATH.include?(File.expand_path("..", __dir__))
  $LOAD_PATH.push(File.expand_path("..", __dir__), File.expand_path("../../pelton-eventmachine/lib", __dir__))
end

begin
  require "pelton-eventmachine"
rescue LoadError => error
  raise unless error.path == "pelton-eventmachine"
  raise LoadError, "EventMachine's API is in a gem of its own: add gem \"pelton-eventmachine\" to the Gemfile, " \
    "or gem install pelton-eventmachine", cause: nil
end
