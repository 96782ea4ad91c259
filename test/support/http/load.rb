# frozen_string_literal: true

require_relative "load_client"

# Clients in threads that account for each of their requests:
#
# - answered: the whole response came, and it is the right one
# - refused: there was no connection, or one that was not accepted, after the server was asked to stop (see #ending)
# - crossed: the server closed a connection that had been idle for a second, while the request was on its way; or a
#   response ended the connection before those that had been sent together with its request. HTTP/1.1 lets it, and
#   clients send such a request again
# - lost: everything else
class HttpLoad
  LARGE = 1_000_000

  # How a client works: the path, whether it keeps its connection, the number of requests at once, the body that it
  # sends, and how many seconds it rests between two requests.
  Kind = Struct.new(:path, :keeps, :burst, :body, :rest, keyword_init: true)

  KINDS = [
    {path: "/", keeps: true},
    {path: "/", keeps: true, rest: 0.01},
    {path: "/", keeps: true, burst: 3},
    {path: "/", keeps: false},
    {path: "/", keeps: false},
    {path: "/wait", keeps: true},
    {path: "/wait", keeps: false},
    {path: "/stream", keeps: true},
    {path: "/compute", keeps: true}, # meanwhile others wait to be accepted
    {path: "/large", keeps: true, rest: 0.05},
    {path: "/large", keeps: false, rest: 0.05},
    {path: "/upload", keeps: true, rest: 0.05, body: "x" * LARGE}
  ].map { |kind| Kind.new(burst: 1, rest: 0, **kind) }.freeze

  # The application that the clients ask. The process that begins a request writes the request's number to the file that
  # ENV names.
  APPLICATION = <<~'RUBY'
    warn "loaded"
    log = File.open(ENV.fetch("HTTP_LOAD_LOG"), "a")
    run(lambda do |env|
      log.syswrite("#{env["QUERY_STRING"]} #{Process.pid}\n")
      answer = "#{Process.pid} #{env["QUERY_STRING"]} "
      body =
        case env["PATH_INFO"]
        when "/wait" then [sleep(0.05) && answer]
        when "/compute" then [100_000.times { } && answer]
        when "/large" then [answer, "x" * 1_000_000]
        when "/stream" then Enumerator.new { |parts| [answer, "x", "x"].each { |part| (parts << part) && sleep(0.01) } }
        when "/upload" then [answer, env["rack.input"].read]
        else [answer]
        end
      [200, {"content-type" => "text/plain"}, body]
    end)
  RUBY

  # A request that was not answered, and the process that its connection's last response came from, if any.
  Loss = Struct.new(:id, :kind, :address, :process, :error) do
    def to_s
      "#{kind.path} (#{id}, keeps: #{kind.keeps}, #{kind.burst} at once) of #{process.inspect} at #{address}: " \
      "#{error.inspect}"
    end
  end

  # @return [Array<Loss>] the lost requests, complete when the load has ended
  attr_reader :lost

  # @param addresses [Array<String>] tcp://, unix:// and ssl:// addresses: each is asked by a client of each kind
  def initialize(addresses)
    @clients = addresses.product(KINDS).map { |address, kind| HttpLoadClient.new(self, address, kind) }
    @losses = Thread::Queue.new
    @counts = Hash.new(0)
    @lock = Mutex.new
  end

  def start
    @threads = @clients.map { |client| Thread.new { client.run } }
    self
  end

  # From now on connections may be refused. A client whose connection is refused ends.
  def ending = @ending = true

  def ending? = @ending

  # Lets the clients complete their current requests.
  def stop
    @over = true
    await
  end

  def over? = @over

  # Waits until all clients have ended.
  def await
    @threads.each(&:join)
    @lost = Array.new(@losses.size) { @losses.pop }
    self
  end

  # The number of requests with this outcome, or of responses from this process.
  def [](outcome_or_process) = @lock.synchronize { @counts[outcome_or_process] }

  def count(*outcomes) = @lock.synchronize { outcomes.each { |outcome| @counts[outcome] += 1 } }

  def lose(loss) = @losses << loss

  # A new number for each request.
  def id = @lock.synchronize { @counts[:ids] += 1 }
end
