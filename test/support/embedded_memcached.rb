# frozen_string_literal: true

require_relative "children"

# The embedded memcached in a process of its own, as its users run it: `pelton memcached`.
module EmbeddedMemcached
  # Calls the block with its port and its process's number, and ends it.
  def with_embedded_memcached(*options)
    IO.popen([*Children::PELTON, "memcached", "-p", "0", *options]) do |child|
      yield Integer(child.gets[/\d+$/]), child.pid
    ensure
      Process.kill("TERM", child.pid)
    end
  end
end
