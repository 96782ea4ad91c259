# frozen_string_literal: true

require_relative "helper"

class SiteSignaturesTest < SiteTest
  needs "signatures"

  RBS = <<~RBS
    module Pelton
      VERSION: String

      def self.run: [T] () { () -> T } -> T

      interface _Logger
        def warn: (untyped) -> void
      end

      class Stream
        class Later
          def gets: () -> String
        end

        attr_accessor timeout: Numeric?
        attr_reader fd: Integer
        def <<: (untyped) -> self
        def read: (?Integer length) -> String?
                | (?Integer length) { (String?) -> void } -> Operation
        def eof?: () -> bool
      end

      class Other < Stream
      end
    end
  RBS

  def setup
    repository("sig/pelton.rbs" => RBS) { |root| @signatures = Site::Signatures.new([File.join(root, "sig/pelton.rbs")]) }
  end

  def test_classes_and_modules
    assert_equal %w[Pelton Pelton::Stream Pelton::Stream::Later Pelton::Other], @signatures.namespaces
  end

  def test_methods_and_their_types
    assert_equal ["[T] () { () -> T } -> T"], @signatures.methods["Pelton.run"]
    assert_equal ["(?Integer length) -> String?", "(?Integer length) { (String?) -> void } -> Operation"], @signatures.methods["Pelton::Stream#read"]
    assert_equal %w[Pelton::_Logger#warn Pelton::Stream::Later#gets Pelton::Stream#<< Pelton::Stream#eof?],
      @signatures.methods.keys.grep(/warn|gets|<<|eof/)
  end

  def test_attributes
    assert_equal({"Pelton::Stream#timeout" => ["() -> Numeric?"], "Pelton::Stream#timeout=" => ["(Numeric?) -> Numeric?"],
      "Pelton::Stream#fd" => ["() -> Integer"]}, @signatures.methods.select { |name, _| name.match?(/timeout|fd/) })
  end
end
