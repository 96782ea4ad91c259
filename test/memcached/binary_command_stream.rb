# frozen_string_literal: true

# Random commands of memcached's binary protocol, valid and invalid ones, always the same for a seed. A cas is relative
# to the server's current one, see #to_s.
#
# Left out are commands that Pelton's server treats differently on purpose: it discards the body of an unknown command,
# while memcached reads a part of it as commands.
class BinaryCommandStream
  OPCODES = {get: 0x00, set: 0x01, add: 0x02, replace: 0x03, delete: 0x04, incr: 0x05, decr: 0x06, quit: 0x07, getq: 0x09, noop: 0x0a,
             version: 0x0b, getk: 0x0c, getkq: 0x0d, append: 0x0e, prepend: 0x0f, setq: 0x11, addq: 0x12, replaceq: 0x13, deleteq: 0x14,
             incrq: 0x15, decrq: 0x16, quitq: 0x17, appendq: 0x19, prependq: 0x1a, touch: 0x1c, gat: 0x1d, gatq: 0x1e, gatk: 0x23, gatkq: 0x24}.freeze
  VALUES = ["", "1", "10", "99", "18446744073709551615", "18446744073709551616", "x", "hello", "007", "z" * 300, "\r\nEND\r\n"].freeze
  EXPIRIES = [0, 0, 0, 1000, 2_592_000].freeze
  NO_CREATION = 0xffffffff

  def initialize(seed, length)
    @random = Random.new(seed)
    @prefix = "#{seed}:"
    @packets = Array.new(length) { command }.flatten(1).push([:noop, "", "", "", 0], ending)
  end

  # Returns the bytes for a server whose last cas was `base`.
  def to_s(base)
    @packets.map { |name, extras, key, value, cas| packet(OPCODES.fetch(name, name), extras, key, value, cas.zero? ? 0 : base + cas) }.join
  end

  private

  def packet(opcode, extras, key, value, cas)
    body = extras.b + key.b + value.b
    [0x80, opcode, key.bytesize, extras.bytesize, 0, 0, body.bytesize, 0xdeadbeef, cas].pack("CCnCCnNNQ>") + body
  end

  def pick(*choices) = choices[@random.rand(choices.size)]

  def key = @prefix + pick("a", "b", "c d", "n\0\r\n", "k" * 200)

  # A value is never a number: memcached takes "1 x" for one, and a number that gets shorter leaves spaces behind it.
  def text_key = "#{@prefix}text"

  def any_key = pick(key, key, text_key)

  def cas = (@random.rand < 0.2) ? @random.rand(1..20) : 0

  def expiry = pick(*EXPIRIES)

  def value = (@random.rand < 0.03) ? "y" * 17_000 : pick(*VALUES)

  def command
    case @random.rand(100)
    when 0..24 then [[pick(:set, :setq, :add, :addq, :replace, :replaceq), [pick(0, 5, 0xffffffff), expiry].pack("NN"), any_key, value, cas]]
    when 25..34 then [[pick(:append, :appendq, :prepend, :prependq), "", text_key, pick("x", "", "yz"), cas]]
    when 35..57 then [[pick(:get, :getq, :getk, :getkq), "", any_key, "", 0]]
    when 58..69 then counting
    when 70..79 then [[pick(:touch, :gat, :gatq, :gatk, :gatkq), [expiry].pack("N"), any_key, "", 0]]
    when 80..87 then [[pick(:delete, :deleteq), "", any_key, "", cas]]
    when 88..91 then [[:noop, "", "", "", 0]]
    when 92..93 then [[:version, "", "", "", 0]]
    else [[pick(0x20, 0x1b, 0x55, 0xff), "", "", "", 0]]
    end
  end

  # memcached changes a number in place only when no unsent reply refers to it: NOOP makes it send them.
  def counting
    [[:noop, "", "", "", 0],
      [pick(:incr, :incrq, :decr, :decrq), [pick(0, 1, 7, 1000, (1 << 64) - 1), pick(0, 5), pick(NO_CREATION, 0, 1000)].pack("Q>Q>N"), key, "", cas]]
  end

  # Each of these ends the connection; most are invalid. memcached may drop an error reply that it has not sent by then,
  # hence the NOOP before it.
  def ending
    pick([:quit, "", "", "", 0], [:quitq, "", "", "", 0], [:get, "", "", "", 0], [:set, "", key, "v", 0], [:noop, "", key, "", 0], [:get, "", "k" * 251, "", 0],
      [:incr, "x" * 8, key, "", 0], [:version, "", "", "v", 0], [:delete, "abcd", key, "", 0], [:touch, "", key, "", 0])
  end
end
