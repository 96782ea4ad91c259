# frozen_string_literal: true

require "json"
require_relative "../test_helper"
require "pelton/memcached/value"

class ValueTest < PeltonTest
  Value = Pelton::Memcached::Value

  # A serializer of the test's own.
  Reversing = Class.new do
    def dump(value) = value.to_s.reverse
    def load(bytes) = bytes.reverse.to_sym
  end

  def test_a_string_is_stored_unchanged
    string = "caf\u00e9\0"
    bytes, flags = Value.new.dump(string)

    assert_same string, bytes
    assert_equal 0, flags
    assert_same bytes, Value.new.load(bytes, 0)
  end

  def test_without_a_serializer_a_value_is_a_string
    [nil, 7, :symbol, ["a"]].each do |thing|
      assert_match(/serializer/, assert_raises(Pelton::Memcached::ValueError) { Value.new.dump(thing) }.message)
    end
    refute_predicate Pelton::Memcached::ValueError.new, :retriable?
    assert_kind_of Pelton::Error, Pelton::Memcached::ValueError.new
  end

  def test_a_serializer_dumps_and_loads
    value = Value.new(serializer: Reversing.new)

    assert_equal ["cba", Value::SERIALIZED], value.dump(:abc)
    assert_equal :abc, value.load(+"cba", Value::SERIALIZED)
  end

  def test_json_round_trip
    value = Value.new(serializer: JSON)

    [nil, true, 1.5, "caf\u00e9", {"a" => [1, {}]}, ""].each do |thing|
      bytes, flags = value.dump(thing)
      back = value.load(bytes.b, flags)

      thing.nil? ? assert_nil(back) : assert_equal(thing, back)
    end
  end

  # Old versions of JSON.load would make an object of the class that the text names.
  def test_json_makes_no_objects
    require "json/add/exception"
    text = {"json_class" => "RuntimeError", "m" => "made", "b" => nil}.to_json

    assert_kind_of Hash, Value.new(serializer: JSON).load(text, Value::SERIALIZED)
  end

  def test_json_refuses_values_that_other_readers_could_not_parse
    value = Value.new(serializer: JSON)

    assert_match(/JSON cannot dump/, assert_raises(Pelton::Memcached::ValueError) { value.dump(Float::NAN) }.message)
    assert_raises(Pelton::Memcached::ValueError) { value.dump("\xff") }
  end

  def test_marshal_by_name
    value = Value.new(serializer: Marshal)

    assert_equal [:a, 1..2], value.load(*value.dump([:a, 1..2]))
    assert_raises(Pelton::Memcached::ValueError) { Value.new.load(*value.dump(:a)) }
  end

  def test_raw_bypasses_serializer_and_compression
    value = Value.new(serializer: JSON, compress: 1)

    assert_equal ["1" * 100, 0], value.dump("1" * 100, raw: true)
    assert_equal "41", value.load(+"41", 0)
    assert_match(/raw/, assert_raises(Pelton::Memcached::ValueError) { value.dump(41, raw: true) }.message)
  end

  def test_a_serializers_error_is_the_cause_of_the_value_error
    {dump: :dump, load: :load}.each_key do |name|
      serializer =
        Class.new { %i[dump load].each { |method| define_method(method) { |_| raise IndexError, "no" } } }.new
      error = assert_raises(Pelton::Memcached::ValueError) do
        Value.new(serializer: serializer).public_send(name, *[+"x", 1].first((name == :dump) ? 1 : 2))
      end

      assert_kind_of IndexError, error.cause
    end
  end

  def test_a_timeout_in_a_serializer_is_raised_unchanged
    serializer =
      Class.new { %i[dump load].each { |name| define_method(name) { |_| raise Timeout::Error, "late" } } }.new

    assert_equal "late", assert_raises(Timeout::Error) { Value.new(serializer: serializer).dump(1) }.message
    assert_equal "late", assert_raises(Timeout::Error) { Value.new(serializer: serializer).load(+"x", 1) }.message
  end

  def test_a_serializer_needs_dump_and_load
    assert_raises(ArgumentError) { Value.new(serializer: Object.new) }
    assert_raises(ArgumentError) { Value.new(serializer: :json) }
    assert_raises(Pelton::Memcached::ValueError) do
      Value.new(serializer: Class.new { %i[dump load].each { |name| define_method(name) { |_| 7 } } }.new).dump(1)
    end
  end

  def test_long_values_are_compressed
    value = Value.new(compress: 100)
    bytes, flags = value.dump("x" * 100)

    assert_equal Value::COMPRESSED, flags
    assert_operator bytes.bytesize, :<, 100
    assert_equal "x" * 100, value.load(bytes, flags)
    assert_equal Encoding::BINARY, value.load(bytes, flags).encoding
    assert_equal ["x" * 99, 0], value.dump("x" * 99)
    assert_equal 0, Value.new(compress: true).dump("x" * (Value::THRESHOLD - 1)).last
    assert_equal Value::COMPRESSED, Value.new(compress: true).dump("x" * Value::THRESHOLD).last
  end

  def test_incompressible_values_are_stored_uncompressed
    noise = Random.new(1).bytes(10_000)

    assert_equal [noise, 0], Value.new(compress: true).dump(noise)
  end

  def test_serialized_and_compressed
    value = Value.new(serializer: JSON, compress: 10)
    bytes, flags = value.dump(["x"] * 100)

    assert_equal Value::SERIALIZED | Value::COMPRESSED, flags
    assert_equal ["x"] * 100, value.load(bytes, flags)
  end

  def test_compressed_values_are_inflated_whatever_the_threshold
    assert_equal "text", Value.new.load(Zlib.deflate("text"), Value::COMPRESSED)
    assert_equal "text", Value.new.load(Zlib.gzip("text"), Value::COMPRESSED)
  end

  # Dalli's defaults are Marshal and zlib.
  def test_values_of_dalli
    object = {"name" => "x" * 5_000}

    assert_equal object, Value.new(serializer: Marshal).load(Zlib.deflate(Marshal.dump(object)), 0x3)
    assert_equal object, Value.new(serializer: JSON).load(JSON.generate(object), 0x1)
  end

  def test_other_flags_are_ignored
    assert_equal "text", Value.new(serializer: JSON).load(+"text", 0xfffffffc)
  end

  def test_damaged_compression
    whole = Zlib.deflate(Random.new(1).bytes(1_000))

    [whole[0..-2], whole[0, 2], "",
      "no zlib at all", whole.dup.tap { |bytes| bytes.setbyte(500, bytes.getbyte(500) ^ 1) }].each do |bytes|
      assert_raises(Pelton::Memcached::ValueError) { Value.new.load(bytes, Value::COMPRESSED) }
    end
  end

  def test_a_value_that_inflates_to_the_limit_and_no_further
    exact = Zlib.deflate("x" * 1_000)

    assert_equal 1_000, Value.new(inflate_limit: 1_000).load(exact, Value::COMPRESSED).bytesize
    assert_match(/999 bytes/,
      assert_raises(Pelton::Memcached::ValueError) do
        Value.new(inflate_limit: 999).load(exact, Value::COMPRESSED)
      end.message)
  end

  # 4 MB that would inflate to 4 GB, in a process that may grow by 300 MB.
  def test_a_zip_bomb_is_refused
    output = ruby_output(<<~RUBY)
      require "pelton/memcached/value"
      stream = Zlib::Deflate.new(9, -Zlib::MAX_WBITS)
      bomb = "\\x78\\x01".b + stream.deflate("\\0" * (16 << 20), Zlib::FULL_FLUSH) * 256
      begin
        Pelton::Memcached::Value.new(inflate_limit: 8 << 20).load(bomb, 2)
      rescue Pelton::Memcached::ValueError => error
        puts error.message, File.read("/proc/self/status")[/VmHWM:\\s*(\\d+)/, 1].to_i / 1024
      end
    RUBY

    assert_match(/more than 8388608 bytes/, output)
    assert_operator output.lines.last.to_i, :<, 300
  end

  def test_arguments_are_checked
    ["4096", -1, 1.5, :yes].each { |compress| assert_raises(ArgumentError) { Value.new(compress: compress) } }
    assert_raises(ArgumentError, TypeError) { Value.new(inflate_limit: "much") }
    assert_predicate Value.new, :frozen?
  end
end
