# frozen_string_literal: true

require "pp"
require "stringio"

# For the programs that look for marked secrets in what people get to see.
module Walk
  MARK = /S3CR3T-[a-z-]+/
  OURS = /\A(?:Pelton|EventMachine|ActiveSupport::Cache::PeltonStore|ActiveJob::QueueAdapters::PeltonAdapter|Shop)/
  CALLS = %i[inspect to_s pretty_inspect].freeze
  # Their text is what they are for.
  TEXTS = {"Pelton::HTTP::ClientBody" => %i[to_s]}.freeze

  class << self
    def found = @found ||= {}

    def seen = @seen ||= {}

    def mark(name) = "S3CR3T-#{name}"

    # @param text [Object] what people get to see
    def text(where, text)
      text = text.to_s.b
      (@encoded ||= {}).each { |plain, encoded| text = text.gsub(encoded, plain) }
      text.scan(MARK).uniq.each { |mark| found[[where, mark]] ||= text[/.{0,60}#{mark}.{0,20}/m] }
    end

    # A secret that is shown in another form.
    def also(name, encoded) = (@encoded ||= {})[mark(name)] = encoded.b

    def error(where, error)
      while error
        texts = [error.message, error.inspect, error.full_message(highlight: false)]
        texts << error.detailed_message if error.respond_to?(:detailed_message)
        texts.each { |text| text("#{where}: #{error.class}", text) }
        error = error.cause
      end
    end

    # Prints how many classes were looked at, then each mark that was found, and where.
    def report = puts("#{seen.size} classes", *found.map { |(where, mark), text| "#{where}: #{mark}: #{text.inspect}" })

    # Looks at all objects that are there.
    def objects(where)
      ObjectSpace.each_object(BasicObject)
        .filter_map { |object| (named = ours[CLASS.bind_call(object)]) && [object, named] }.each do |object, named|
        seen[named] = true
        (CALLS - TEXTS.fetch(named, [])).each { |call| text("#{named}##{call} (#{where})", object.public_send(call)) }
      rescue NoMethodError => error # its constructor has failed
        text("#{named} (#{where})", error.message)
      end
      GC.enable
      GC.start
      GC.disable
    end

    private

    CLASS = Kernel.instance_method(:class)
    private_constant :CLASS

    # The name of each class of ours, or of what it inherits from.
    def ours
      @ours ||= Hash.new do |names, type|
        named = type
        named = named.superclass until named.nil? || named.name
        names[type] = (named.name if named&.name&.match?(OURS))
      end.compare_by_identity
    end
  end
end

# A log in which nothing secret is written.
class Log < StringIO
  def write(*texts) = texts.each { |text| Walk.text("log", text) }.sum(&:bytesize)
end

# What raises an error that shows no secret.
def attempt(where, wanted = StandardError)
  yield
  puts "#{where}: no error"
rescue wanted => error
  Walk.error(where, error)
end
