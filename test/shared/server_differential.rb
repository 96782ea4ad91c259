# frozen_string_literal: true

require "pelton/memcached"
require "socket"
require_relative "../memcached/command_stream"

# The embedded server beside memcached itself: the same random commands to both, whole and cut at random places, and the
# same replies from both. In the replies, cas numbers count from the stream's first one, and times are rounded.
#
# The including class defines `streams`, the number of streams. FIRST_STREAM=1000 begins with another stream.
module ServerDifferential
  FIRST = Integer(ENV.fetch("FIRST_STREAM", "1"))

  def test_replies_are_those_of_memcached
    with_both do |theirs, ours|
      (FIRST...FIRST + streams).each do |seed|
        stream = CommandStream.new(seed, 60)
        replies = [theirs, ours].map { |port| converse(port, stream, seed) }

        assert replies.uniq.one?,
          proc {
            "stream #{seed}: #{difference(*replies)}\n--- the stream\n#{stream.to_s(0).gsub(/(.)\1{99,}/n, "...")}"
          }
      end
    end
  end

  private

  # Yields the ports of a memcached and of an embedded server, which runs in a process of its own.
  def with_both
    skip "memcached is not installed, or not asked" if embedded_memcached?
    theirs = with_memcached
    version = ask(theirs, "version\r\n").chomp
    skip "#{version} is not the memcached whose replies ours are: 1.6.18" unless version == "VERSION 1.6.18"
    code = <<~RUBY
      require "pelton/memcached"
      Pelton::Memcached::Server.new.run do |server|
        puts server.port
        $stdout.flush
        Thread.new { $stdin.read; exit!(0) }
      end
    RUBY
    IO.popen([RbConfig.ruby, "-I#{PeltonTest::LIB}", "-e", code], "r+") do |child|
      yield theirs, Integer(child.gets)
    ensure
      child.close_write
    end
  end

  def ask(port, text)
    TCPSocket.open("127.0.0.1", port) do |socket|
      socket.write(text)
      socket.gets
    end
  end

  # All replies of the server to the stream, until it closes the connection.
  def converse(port, stream, seed)
    base = Integer(ask(port, "ms #{seed}:probe 0 c\r\n\r\n")[/c(\d+)/, 1])
    text = TCPSocket.open("127.0.0.1", port) do |socket|
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      reader = Thread.new { read_all(socket) }
      write_all(socket, pieces(stream.to_s(base), seed))
      reader.value
    end
    lines(text.b, base)
  end

  def write_all(socket, pieces)
    pieces.each do |piece|
      socket.write(piece)
      Thread.pass
    end
    socket.close_write
  rescue Errno::EPIPE, Errno::ECONNRESET, Errno::ENOTCONN
    nil # the server has closed the connection
  end

  # A server that has left bytes unread resets the connection after its last reply.
  def read_all(socket)
    text = +""
    loop { text << socket.readpartial(65_536) }
  rescue EOFError, Errno::ECONNRESET
    text
  end

  # Every third stream is sent in one piece.
  def pieces(text, seed)
    return [text] if seed % 3 == 0
    random = Random.new(seed)
    longest = [3, 20, 200][random.rand(3)] * (1 + text.bytesize / 5000)
    pieces = []
    pieces << text.slice!(0, random.rand(1..longest)) until text.empty?
    pieces
  end

  def lines(text, base)
    text.lines.map do |line|
      case line
      when /\A(VA|HD|EX|NF|NS|EN)\b/
        line.gsub(/ c([1-9]\d*)/) { " c+#{$1.to_i - base}" }.gsub(/ t(\d+)/) { " t#{rounded($1)}" }.gsub(/ l\d+/, " l")
      when /\AVALUE [^ ]+ \d+ \d+ (\d+)/ then line.sub(/\d+\r\n/, "+#{$1.to_i - base}\r\n")
      when /\AME / then line.gsub(/ (exp|la|cls|size)=\S+/, "").sub(/cas=(\d+)/) { "cas=+#{$1.to_i - base}" }
      else line
      end
    end
  end

  # An expiry in the past is a huge number in memcached.
  def rounded(seconds) = (seconds.to_i > 4_000_000_000) ? 0 : (seconds.to_i / 500.0).round * 500

  def difference(theirs, ours)
    at = (0..theirs.size).find { |index| theirs[index] != ours[index] }
    before = theirs[[at - 6, 0].max...at].map { |line| "      #{line.inspect}\n" }.join
    "reply #{at} differs\n#{before}memcached: #{theirs[at].inspect}\npelton:    #{ours[at].inspect}"
  end
end
