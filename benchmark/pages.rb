# frozen_string_literal: true

# The cost of a page of 40 messages, 28 KB, as gzip: compressed whole by zlib, spliced from fragments by plain Ruby, and by
# Pelton::HTTP::Page. CPU time of the process for one page; rounds are interleaved, and ratios are of medians.
#
#     bundle exec ruby -Ilib benchmark/pages.rb [ROUNDS]

require "erb"
require "zlib"
require "pelton/http"
require_relative "support/measuring"
require_relative "../pelton-lab/lib/pelton/lab/applications/messages"

Fragment = Pelton::HTTP::Fragment

MESSAGE = ERB.new(Messages::MESSAGE)
PARTS = [Fragment.new(Messages::HEAD), "<body><p>signed in as Ada</p>\n",
  *Messages::LIST.flat_map { |message| [Fragment.new(MESSAGE.result_with_hash(message: message)), "<hr>\n"] }, "</body></html>\n"].freeze
TEXT = PARTS.join.freeze

Plain = Struct.new(:deflated, :crc, :length)
PLAIN = PARTS.map { |part| part.is_a?(String) ? part : Plain.new(part.deflated, Zlib.crc32(part.text), part.bytesize) }.freeze

def splice_in_ruby
  out = "\x1f\x8b\x08\0\0\0\0\0\0\x03".b
  crc = length = 0
  PLAIN.each do |part|
    if part.is_a?(String)
      size = part.bytesize
      out << [0, size, size ^ 0xffff].pack("Cvv") << part
      crc = Zlib.crc32(part, crc)
      length += size
    else
      out << part.deflated
      crc = Zlib.crc32_combine(crc, part.crc, part.length)
      length += part.length
    end
  end
  out << "\x03\0".b << [crc, length].pack("VV")
end

def page = PARTS.each_with_object(Pelton::HTTP::Page.new) { |part, page| page << part }

READY = page
CONTENDERS = {
  "zlib, level 6" => [50, -> { Zlib.gzip(TEXT) }],
  "zlib, level 1" => [100, -> { Zlib.gzip(TEXT, level: 1) }],
  "splice in Ruby" => [1000, -> { splice_in_ruby }],
  "Page#gzip" => [1000, -> { READY.gzip }],
  "Page put together, and gzip" => [1000, -> { page.gzip }],
  "Page#etag" => [1000, -> { READY.etag }]
}.freeze

CONTENDERS.each { |name, (_, work)| (name == "Page#etag" || Zlib.gunzip(work.call) == TEXT.b) || abort("#{name}: wrong") }
times = CONTENDERS.transform_values { [] }
Integer(ARGV[0] || 9).times do
  CONTENDERS.to_a.shuffle.each { |name, (count, work)| times[name] << processor_time { count.times { work.call } } / count * 1e6 }
end
base = median(times["splice in Ruby"])
times.each { |name, all| puts format("%-28s %7.1f us  %7.1f..%-7.1f %5.2f", name, median(all), all.min, all.max, median(all) / base) }
puts "#{TEXT.bytesize} bytes; level 6: #{Zlib.gzip(TEXT).bytesize}, level 1: #{Zlib.gzip(TEXT, level: 1).bytesize}, spliced: #{READY.gzip.bytesize}"
