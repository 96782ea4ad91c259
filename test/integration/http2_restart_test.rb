# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/http/http2_load"
require_relative "../support/http/serving"

# `pelton serve` under load by HTTP/2 and HTTP/1.1 on one port: restarts lose no request.
class Http2RestartTest < PeltonTest
  include HttpServing

  self.deadline = 120

  %w[USR1 USR2].each do |signal|
    define_method("test_#{signal.downcase}_loses_nothing") do
      serving_under_load(workers: 2) do |load|
        http2 = Http2Load.new(File.read("#{@folder}/pelton.rb")[%r{tcp://127.0.0.1:(\d+)}, 1])
        in_time { http2.answered > 50 }
        before = serving
        connections = http2.connections
        Process.kill(signal, @master)
        in_time { (serving - before).size == 2 && (serving & before).empty? }
        go_on(load)
        in_time { http2.connections >= connections + Http2Load::CLIENTS }

        assert_empty http2.stop.lost
        assert_empty load.stop.lost
      end
    end
  end
end
