# frozen_string_literal: true

# A worker of Solid Queue that runs so many jobs for each request (GET /run?job=TokenJob&count=100), and answers with
# what it has measured, as JSON. usage: worker.rb PORT, with DATABASE, POOL, UPSTREAM and WORKER ("threads 25", "fibers
# 500")

require "bundler/setup"
require "json"
require "net/http"
require "rails"
require "active_record/railtie"
require "active_job/railtie"
require ENV["RAILTIE"] if ENV["RAILTIE"]
require "solid_queue"
require "pelton/pubsub"

class LabApplication < Rails::Application
  config.root = Dir.pwd
  config.eager_load = false
  config.secret_key_base = "lab"
  config.logger = Logger.new(nil)
  config.active_job.queue_adapter = :solid_queue
  config.active_support.isolation_level = :fiber
end
ENV["DATABASE_URL"] = "#{ENV.fetch("DATABASE")}?pool=#{ENV.fetch("POOL")}&timeout=20000"
LabApplication.initialize!
ActiveJob::Base.logger = SolidQueue.logger = Logger.new(nil)
$stdout = File.open(File::NULL, "w")
load File.join(Gem.loaded_specs["solid_queue"].full_gem_path,
  "lib/generators/solid_queue/install/templates/db/queue_schema.rb")
ActiveRecord::Base.connection.create_table(:answers, force: true) do |table|
  table.text :text
  table.integer :count, default: 0
end

class Answer < ActiveRecord::Base; end

# When jobs were claimed, had their first token, and how many have ended.
module Times
  CLAIMED, FIRST, ENDED = Array.new(3) { Queue.new }

  def post(execution)
    CLAIMED << [execution.job.active_job_id, Times.now]
    super
  end

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

class TokenJob < ActiveJob::Base
  EXPECTED = Array.new(50) { |number| "token#{number}" }.join

  def perform(id)
    text = +""
    rest = +""
    Net::HTTP.start("127.0.0.1", Integer(ENV.fetch("UPSTREAM"))) do |http|
      http.request_get("/") do |response|
        response.read_body do |piece|
          Times::FIRST << [job_id, Times.now] if rest.empty? && text.empty?
          rest << piece
          while (event = rest.slice!(/\A.*?\n\n/m))
            token = event[/^data: (.*)/, 1]
            Pelton::PubSub.publish("answer:#{id}", token)
            text << token
          end
        end
      end
    end
    Answer.where(id: id).update_all(text: text)
    Times::ENDED << id
  end

  def self.right?(ids) = Answer.where(id: ids, text: EXPECTED).count == ids.size
end

class RowJob < ActiveJob::Base
  def perform(id)
    Answer.where(id: id).update_all("count = count + 1")
    Times::ENDED << id
  end

  def self.right?(ids) = Answer.where(id: ids, count: 1).count == ids.size
end

def percentile(values, share) = values.sort[((values.size - 1) * share).round]

def run(job, count)
  [Times::CLAIMED, Times::FIRST, Times::ENDED].each(&:clear)
  first = Answer.maximum(:id).to_i + 1
  ids = (first...first + count).to_a
  ids.each_slice(500) do |some|
    Answer.insert_all(some.map { |id| {id: id} })
    ActiveJob.perform_all_later(some.map { |id| job.new(id) })
  end
  kind, number = ENV.fetch("WORKER").split
  worker = SolidQueue::Worker.new(:queues => "*", :polling_interval => 0.1, kind.to_sym => Integer(number))
  worker.pool.singleton_class.prepend(Times)
  worker.mode = :async
  started = Times.now
  worker.start
  connections = 0
  until Times::ENDED.size == count
    connections = [connections, ActiveRecord::Base.connection_pool.connections.size].max
    sleep 0.01
  end
  seconds = Times.now - started
  sleep 0.01 until SolidQueue::Job.where(finished_at: nil).none?
  worker.stop
  claimed = Array.new(Times::CLAIMED.size) { Times::CLAIMED.pop }.to_h
  waits = Array.new(Times::FIRST.size) { Times::FIRST.pop }.map { |id, time| (time - claimed.fetch(id)) * 1000 }
  {seconds: seconds, right: job.right?(ids), failed: SolidQueue::FailedExecution.count, pool: worker.pool.class.name,
   connections: connections, p99_ms: percentile(waits, 0.99)}
end

server = TCPServer.new("127.0.0.1", Integer(ARGV.fetch(0)))
while (client = server.accept)
  line = client.gets or next client.close # whoever looks whether it accepts
  query = URI.decode_www_form(line[/\?(\S+)/, 1].to_s).to_h
  client.gets until $_.to_s.strip.empty?
  body = JSON.generate(run(Object.const_get(query.fetch("job")), Integer(query.fetch("count"))))
  client.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}")
  client.close
end
