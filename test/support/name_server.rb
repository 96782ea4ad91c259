# frozen_string_literal: true

require "resolv"
require "socket"

# A name server in a thread, on 127.0.0.1.
class NameServer
  UDP_LIMIT = 512

  # @return [Integer]
  attr_reader :port
  # @return [Integer] the number of questions by UDP
  attr_reader :asked
  # @return [Integer] the number of questions by TCP
  attr_reader :asked_by_tcp

  # @param names [Hash{String => Array<String>}] addresses
  # @param silent [Integer] the number of first questions that get no answer
  # @param lies [Array<String>] addresses that are sent first, as the answer to a question that nobody asked, and to the
  #   right question with a wrong id, once as a truncated one
  def initialize(names, silent: 0, lies: nil)
    @names, @silent, @lies = names, silent, lies
    @asked = @asked_by_tcp = 0
    @tcp = TCPServer.new("127.0.0.1", 0)
    @port = @tcp.local_address.ip_port
    @udp = UDPSocket.new
    @udp.bind("127.0.0.1", @port)
    @threads = [Thread.new { serve_udp }, Thread.new { serve_tcp }]
  end

  def close
    @threads.each(&:kill).each(&:join)
    [@tcp, @udp].each(&:close)
  end

  private

  def serve_udp
    loop do
      data, (_, port, _, address) = @udp.recvfrom(UDP_LIMIT)
      @asked += 1
      next if @asked <= @silent
      question = Resolv::DNS::Message.decode(data)
      lies_about(question).each { |lie| @udp.send(lie.encode, 0, address, port) }
      answer = answer(question).encode
      answer = truncated(question) if answer.bytesize > UDP_LIMIT
      @udp.send(answer, 0, address, port)
    end
  end

  def serve_tcp
    loop do
      client = @tcp.accept
      @asked_by_tcp += 1
      question = Resolv::DNS::Message.decode(client.read(client.read(2).unpack1("n")))
      data = answer(question).encode
      client.write([data.bytesize].pack("n") << data)
      client.close
    end
  end

  def answer(question, id: question.id, addresses: @names[question.question[0][0].to_s])
    name, type = question.question[0]
    Resolv::DNS::Message.new(id).tap do |message|
      message.qr = 1
      message.rcode = Resolv::DNS::RCode::NXDomain unless addresses
      message.add_question(name, type)
      fitting(addresses, type).each { |address| message.add_answer(name, 60, type.new(address)) }
    end
  end

  def fitting(addresses, type)
    [*addresses].select { |address| address.include?(":") == (type == Resolv::DNS::Resource::IN::AAAA) }
  end

  def truncated(question) = answer(question, addresses: []).tap { |message| message.tc = 1 }.encode

  def lies_about(question)
    return [] unless @lies
    other = Resolv::DNS::Message.new(question.id)
    other.add_question(Resolv::DNS::Name.create("other.test."), question.question[0][1])
    forged = Array.new(2) { |tc| answer(question, id: question.id ^ 1, addresses: @lies).tap { |one| one.tc = tc } }
    [*forged, answer(other, addresses: @lies)]
  end
end
