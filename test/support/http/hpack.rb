# frozen_string_literal: true

# Header fields of HTTP/2 as bytes (RFC 7541). It writes literals that are not indexed, and reads whatever a server
# sends.
class Hpack
  STATIC = [
    %w[:authority], %w[:method GET], %w[:method POST], %w[:path /], %w[:path /index.html], %w[:scheme http],
    %w[:scheme https],
    *%w[200 204 206 304 400 404 500].map { |status| [":status", status] },
    *%w[accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow
      authorization
      cache-control content-disposition content-encoding content-language content-length content-location content-range
      content-type cookie date etag expect expires from host if-match if-modified-since if-none-match if-range
      if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range referer
      refresh
      retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via
      www-authenticate].zip
  ].freeze

  # How many bits each byte, and the end, have in Huffman's code, which is canonical.
  LENGTHS = [
    [5, "012aceiost"], [6, " %-./3456789=A_bdfghlmnpru"], [7, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"], [8, "&*,;XZ"],
    [10, "!\"()?"],
    [11, "'+|"], [12, "#>"], [13, "\0$@[]~"], [14, "^}"], [15, "<`{"]
  ].freeze

  CODES = {}.tap do |codes|
    code = last = 0
    LENGTHS.each do |length, bytes|
      bytes.each_char do |byte|
        code <<= length - last
        last = length
        codes[[length, code]] = byte
        code += 1
      end
    end
  end.freeze

  # A String with a length before it.
  def self.string(text) = integer(text.bytesize, 7) + text.b

  def self.integer(number, bits, flags = 0)
    most = (1 << bits) - 1
    return [flags | number].pack("C") if number < most
    bytes = [flags | most]
    number -= most
    while number >= 128
      bytes << (number % 128 + 128)
      number /= 128
    end
    (bytes << number).pack("C*")
  end

  # @param fields [Enumerable<Array(String, String)>]
  def self.block(fields) = fields.map { |name, value| "\0".b + string(name) + string(value) }.join

  def initialize
    @dynamic = []
  end

  # @return [Array<Array(String, String)>] the fields of a block
  def read(block)
    @bytes = block.bytes
    fields = []
    fields << read_field while @bytes.any?
    fields.compact
  end

  private

  def read_field
    first = @bytes[0]
    return entry(read_integer(7)) if first >= 0x80
    return read_integer(5) && nil if first & 0xe0 == 0x20 # the table's size
    indexed = first >= 0x40
    index = read_integer(indexed ? 6 : 4)
    name = index.zero? ? read_string : entry(index).first
    field = [name, read_string]
    @dynamic.unshift(field) if indexed
    field
  end

  def entry(index) = (index <= STATIC.size) ? STATIC.fetch(index - 1) : @dynamic.fetch(index - STATIC.size - 1)

  def read_integer(bits)
    most = (1 << bits) - 1
    number = @bytes.shift & most
    return number if number < most
    shift = 0
    loop do
      byte = @bytes.shift
      number += (byte & 127) << shift
      return number if byte < 128
      shift += 7
    end
  end

  def read_string
    huffman = @bytes[0] >= 0x80
    bytes = @bytes.shift(read_integer(7))
    huffman ? decode(bytes) : bytes.pack("C*")
  end

  def decode(bytes)
    text = +""
    length = code = 0
    bytes.pack("C*").unpack1("B*").each_char do |bit|
      code = code << 1 | bit.to_i
      length += 1
      next unless (byte = CODES[[length, code]])
      text << byte
      length = code = 0
    end
    text
  end
end
