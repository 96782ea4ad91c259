# frozen_string_literal: true

require "pelton/lab/memcached_server"
require "pelton/lab/web"

# "Nonblocking IO" (2010): a value of nearly a megabyte, from memcached by HTTP. In the article the non-blocking way was
# 5.5 times slower than the blocking one, and its process grew to 700 MB.
Pelton::Lab.web_experiment "broker" do |programs|
  about "a value from memcached by HTTP: blocking and non-blocking, Rack and Sinatra, beside nginx's memcached_pass"

  broker = File.expand_path("../../../../examples/broker/config.ru", __dir__)
  sinatra = programs.application("broker_sinatra")
  dalli = programs.application("broker_dalli")

  # Contenders of the targets take part in all rounds.
  contenders = lambda do |race, bytes|
    large = bytes > 100_000
    race.also :cpu_us_per_operation, "CPU us/op", digits: 0
    race.also :grown_mb, "grown by, MB", digits: 0
    race.server do |processes, core, address|
      Pelton::Lab::WebLoad.program("ab")
      Pelton::Lab::MemcachedServer.start(processes, core, address)
    end

    serve = lambda do |run, command, connections: 5|
      require "pelton/memcached"
      value = Random.new(bytes).bytes(bytes)
      Pelton::Memcached::Client.new(run.address, timeout: 10).set("test", value)
      Pelton::Lab::WebServer.serve(command,
        environment: {"MEMCACHE_SERVERS" => run.address, "CONNECTIONS" => connections.to_s}) do |server|
        check = lambda do
          answer = server.get("/test")
          run.expect(["200", true], [answer.code, answer.body.b == value],
            "an answer's status, and whether it has the value")
        end
        check.call
        run.measure_server(server) do
          Pelton::Lab::WebLoad.new(run).ab(server.url("/test"), requests: run.size, connections: 170, bytes: bytes)
        end
        check.call
      end
    end

    race.baseline "nginx, memcached_pass", style: "callback", program: "nginx" do |run|
      location = "location ~ ^/(.*)$ { set $memcached_key $1; memcached_pass cache; memcached_buffer_size 64k; }"
      serve.call(run, programs.nginx(location, upstream: "upstream cache { server #{run.address}; keepalive 32; }"))
    end

    race.contender("Pelton, Rack", style: "direct") { |run| serve.call(run, programs.pelton(broker)) }
    race.contender("Pelton, Sinatra", style: "direct", gem: "sinatra", rounds: (3 if large)) do |run|
      serve.call(run, programs.pelton(sinatra))
    end
    race.contender("Puma, Rack, dalli", style: "blocking", gem: "puma", rounds: (3 unless large)) do |run|
      serve.call(run, programs.puma(dalli))
    end
    race.contender("Falcon, Rack, dalli", style: "direct", gem: "falcon", rounds: 3) do |run|
      serve.call(run, programs.falcon(dalli), connections: 16)
    end
    # It searches all that it has received again with each piece: a hundred large values are enough to see it.
    race.contender "Thin, EM::P::Memcache", style: "callback", gem: "thin", rounds: 3,
      at_most: (large ? 100 : 5_000) do |run|
      serve.call(run, programs.thin(programs.application("broker_eventmachine")))
    end
  end

  race "a megabyte", size: {apart: 500}, full: 1_000, rehearsal: 20, rounds: 12, rounds_per_process: 6,
    unit: "requests" do
    about "a value of 1,024,000 bytes, read from memcached and sent on, for 170 clients at a time"
    contenders.call(self, 1_024_000)

    target 14, "1 MB from memcached by HTTP: CPU a request / nginx memcached_pass", of: "Pelton, Rack", at_most: 1.0,
      metric: :cpu_us_per_operation
    target 15, "the same: time a request / Rack with dalli on Puma", of: "Pelton, Rack", to: "Puma, Rack, dalli",
      at_most: 1.0
    target 15, "the same: growth of its memory", of: "Pelton, Rack", at_most: 64, metric: :grown_mb, unit: "MB",
      digits: 0
  end

  race "ten kilobytes", size: {apart: 5_000}, full: 20_000, rehearsal: 200, rounds: 12, rounds_per_process: 6,
    unit: "requests" do
    about "a value of 10,240 bytes, for 170 clients at a time"
    contenders.call(self, 10_240)

    target 16, "10 KB the same way: time a request / nginx (0.95 of its requests/s)", of: "Pelton, Rack", at_most: 1.05
    target 16, "the same by Sinatra (0.65 of its requests/s)", of: "Pelton, Sinatra", at_most: 1.54
  end
end
