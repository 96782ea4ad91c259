# frozen_string_literal: true

require_relative "../test_helper"

# Objects of the classes written in C that were allocated and never initialized, and copies of others: each of their
# methods raises an error, whatever its arguments, or does nothing. A process of its own calls them, because a fault
# would end it.
class UninitializedTest < PeltonTest
  self.deadline = 60

  PROGRAM = <<~'RUBY'
    require "pelton"
    require "pelton/http"
    require "pelton/memcached"
    require "pelton/memcached/server"
    Pelton.logger = nil
    $stderr.sync = true
    ODD = [nil, 0, -1, 2**70, 0.5, "text", "\0\xff", :name, [], [nil], {}, Object.new, Class, 1..2, Thread.current,
      Fiber.current, -> {}].freeze
    WAITS = %i[_await block kernel_sleep io_select].freeze # for ever, as they should

    def classes
      ObjectSpace.each_object(Class).select { |type| type.name&.start_with?("Pelton") && !(type <= Exception) }
        .sort_by(&:name)
    end

    def of_c(type) = (type.instance_methods + type.private_instance_methods - Object.private_instance_methods)
      .uniq.select do |name|
      method = type.instance_method(name)
      method.source_location.nil? && method.owner.name&.start_with?("Pelton")
    end

    def try(waits)
      Timeout.timeout(waits ? 0.01 : 5) { yield }
    rescue Timeout::Error
      raise unless waits
    rescue StandardError, NotImplementedError
      nil
    end

    def call_all(type, make)
      (of_c(type) + %i[initialize dup clone inspect hash ==]).each do |name|
        arity = type.instance_method(name).arity
        counts = (arity < 0) ? (~arity..~arity + 3) : [arity]
        counts.each do |count|
          ODD.each do |odd|
            $at = "#{type}##{name}(#{([odd] * count).map(&:inspect).join(", ")})"
            File.write(ARGV[0], $at)
            try(WAITS.include?(name)) { make.call.send(name, *[odd] * count) }
            try(WAITS.include?(name)) { make.call.send(name, *[odd] * count) { 1 } } if odd.nil?
          end
        end
      end
    end

    require "timeout"
    checked = []
    classes.each do |type|
      next unless (type.allocate rescue nil)
      next if of_c(type).empty?
      checked << type
      call_all(type, -> { type.allocate })
    end
    GC.start
    puts checked
  RUBY

  def test_each_method_of_an_object_that_was_only_allocated
    Tempfile.create("at") do |at|
      output, errors, status = run_ruby(PROGRAM, at.path, deadline: 50)

      assert status.success?, "#{status} at #{at.read}\n#{errors.lines.first(40).join}"
      assert_empty %w[Pelton::Reactor Pelton::Operation Pelton::HTTP::Parser Pelton::Memcached::Client] - output.split
    end
  end
end
