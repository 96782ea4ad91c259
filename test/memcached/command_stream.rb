# frozen_string_literal: true

# Random text commands for a memcached, valid and invalid ones, always the same for a seed. A cas is relative to the
# server's current one, see #to_s.
#
# Left out are commands that Pelton's server treats differently on purpose: numbers that memcached truncates to 32 bits
# or accepts with a sign, NUL and CR in a line, base64 with invalid characters, lines beyond 2,048 bytes.
class CommandStream
  Cas = Struct.new(:offset)

  KEYS = %W[a b c n\x01\t].freeze
  EXPIRIES = [0, 0, 0, 1000, 5000, -1, 2_592_000].freeze # nothing that ends while the test runs
  WORDS = ["", "1", "10", "99", "18446744073709551615", "18446744073709551616", "x", "hello", "0", "007",
    "z" * 300].freeze

  # memcached changes a number in place only when no unsent reply refers to it. This command makes it send its replies,
  # and so precedes those that change numbers.
  FLUSH = "mn\r\n"

  def initialize(seed, length)
    @random = Random.new(seed)
    @prefix = "#{seed}:"
    @cas = 0
    @parts = [*first_command, *Array.new(length) { command }].flatten(1)
  end

  # Returns the bytes for a server whose last cas was `base`.
  def to_s(base) = @parts.map { |part| part.is_a?(Cas) ? (base + part.offset).to_s : part }.join

  private

  def pick(*choices) = choices[@random.rand(choices.size)]

  def maybe(part, chance = 0.3) = (@random.rand < chance) ? part : ""

  def key = "#{@prefix}#{pick(*KEYS)}"

  # A value is never a number: memcached takes "1 x" for one, and a number that gets shorter leaves spaces behind it.
  def text_key = "#{@prefix}text"

  def value = (@random.rand < 0.03) ? "y" * 17_000 : pick(*WORDS)

  def noreply = maybe(" noreply", 0.15)

  def expiry = pick(*EXPIRIES)

  def cas = Cas.new(@random.rand(1..25))

  # memcached drops the replies before this one when it is sent among others.
  def first_command = [maybe("get #{"k" * 251}\r\n", 0.1)]

  def command
    chosen = @random.rand(100)
    case chosen
    when 0..19 then storage
    when 20..29 then retrieval
    when 30..37
      ["#{FLUSH}#{pick("incr", "decr")} #{key} #{pick(0, 1, 7, 1000, "18446744073709551615", "x", "-1")}#{noreply}\r\n"]
    when 38..42 then ["delete #{key}#{pick("", "", " 0", " 1", " noreply", " 0 noreply", " 5 noreply", " x")}\r\n"]
    when 43..46 then ["touch #{key} #{pick(expiry, expiry, "x")}#{noreply}\r\n"]
    when 47..60 then meta_set
    when 61..76 then meta_get
    when 77..82 then meta_delete
    when 83..89 then meta_arithmetic
    when 90..91 then ["me #{key}\r\n"]
    when 92 then ["mn\r\n"]
    when 93 then ["verbosity 0#{noreply}\r\n"]
    when 94 then ["md #{key} I#{maybe(" T1000")}\r\n"]
    when 95..96 then ["mg #{key} #{pick("v", "N1000 t", "R3000 t")}\r\n"]
    else [mistake]
    end
  end

  def storage
    verb = pick("set", "set", "add", "replace", "append", "prepend", "cas")
    text = value
    line = ["#{verb} #{(verb == "append") ? text_key : key} #{pick(0, 0, 5, 4_294_967_295)} #{expiry} #{text.bytesize}"]
    line.push(" ", cas) if verb == "cas"
    line << "#{noreply}\r\n#{text}#{maybe("yy", 0.05)}\r\n"
  end

  def retrieval
    keys = Array.new(@random.rand(1..4)) { pick(key, key, text_key) }.join(" ")
    [pick("get #{keys}", "gets #{keys}", "gat #{expiry} #{keys}", "gats #{expiry} #{keys}", "get  #{keys} ",
      "bogus #{keys}") + "\r\n"]
  end

  # Some of these flags, each once, in any order.
  def flags(*all)
    all.select { @random.rand < 0.3 }.shuffle(random: @random).flat_map { |flag| [" ", *flag] }
  end

  def opaque = "O#{pick("", "1", "abc")}"

  def binary_key = [["#{@prefix}bin"].pack("m0"), " b"]

  def key_and_binary = (@random.rand < 0.15) ? binary_key : [key, ""]

  def meta_set
    text = value
    name, binary = key_and_binary
    mode = binary.empty? ? pick("E", "A", "P", "R", "S", "X", "SS") : "S"
    name = text_key if mode == "A"
    chosen = flags("c", "k", "q", opaque, "I", "F#{pick(0, 7, "x")}", "T#{pick(expiry, expiry, "y")}", ["C", cas],
      "M#{mode}")
    chosen.push(" ", "MA") if mode == "A" && !chosen.include?("MA")
    ["ms #{name} #{text.bytesize}#{binary}", *chosen, "\r\n#{text}#{maybe("yy", 0.05)}\r\n"]
  end

  def meta_get
    name, binary = key_and_binary
    # A key that N creates is printed raw by memcached, even when it came as base64.
    creating = binary.empty? ? ["N#{expiry}"] : []
    chosen = flags("s", "v", "t", "f", "c", "k", "h", "l", "q", "u", opaque, "T#{pick(expiry, expiry, "y")}",
      "R#{pick(0, 30, 3000)}",
      *creating)
    chosen.push(" ", pick("v", "k", "!", "O2")) if @random.rand < 0.1
    ["mg #{name}#{binary}", *chosen, "\r\n"]
  end

  def meta_delete
    name, binary = key_and_binary
    ["md #{name}#{binary}", *flags("q", "k", "I", opaque, "T#{expiry}", ["C", cas]), "\r\n"]
  end

  # Without T: memcached forgets it when the number gets longer.
  def meta_arithmetic
    ["#{FLUSH}ma #{key}", *flags("N#{expiry}", "J#{pick(0, 13)}",
      "D#{pick(0, 5, "x")}", "M#{pick("I", "D", "+", "-", "Z")}",
      "q", "t", "c", "v", "k", opaque, ["C", cas]), "\r\n"]
  end

  def mistake
    pick("\r\n", "x\r\n", "get\r\n", "gat\r\n", "gat 10\r\n", "gat x #{key}\r\n", "set #{key} 0 0\r\n",
      "set #{key} x 0 1\r\na\r\n",
      "set #{key} 0 0 -1\r\n", "set #{"k" * 251} 0 0 1\r\na\r\n", "set #{key} 0 0 2000000000 x y\r\n",
      "delete #{"k" * 251}\r\n",
      "incr #{key}\r\n", "mg\r\n", "ms\r\n", "ms #{key}\r\n", "ms #{key} x\r\n", "ms #{key} -1\r\n",
      "mg #{"k" * 251}\r\n", "me\r\n", "mz\r\n",
      "ms #{key} 3 !\r\nabc\r\n", "ms #{key} 1 T1 T2\r\na\r\n", "mg #{key} s s\r\n",
      "ms #{key} 1 O#{"o" * 32}\r\na\r\n", "mg #{key} O#{"o" * 31}\r\n",
      "md #{key} O#{"o" * 32}\r\n", "mg #{key} #{"P " * 20}\r\n", "ms #{key} 1#{" P" * 20}\r\na\r\n",
      "flush_all x\r\n", "flush_all 1 2 3\r\n",
      "verbosity\r\n", "verbosity x\r\n", "shutdown\r\n", "stats detail\r\n", "stats bogus\r\n", "GET\r\n",
      "#{"word " * 30}\r\n",
      "incr #{key} 1 2 3\r\n", "touch #{key}\r\n", "cas #{key} 0 0 1\r\n", "cas #{key} 0 0 1 x\r\n",
      "mg #{key} Tx !\r\n", "mg #{key} Fx\r\n")
  end
end
