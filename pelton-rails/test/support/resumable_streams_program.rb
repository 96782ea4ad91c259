# frozen_string_literal: true

require_relative "solid_queue_program"

# The application of docs/guides/resumable_streams.md, served with a worker of Solid Queue in one process.
module ResumableStreamsProgram
  include SolidQueueProgram

  GUIDE = File.join(PeltonTest::ROOT, "docs/guides/resumable_streams.md")

  # The files of the guide's first section by their paths.
  def guide_files
    blocks =
      File.read(GUIDE)[/^## In Rails$.*?^## States$/m].scan(/^```(?:ruby|erb)\n(?:# |<%# )(\S+)(?: %>)?\n(.*?)^```/m)
    blocks.to_h
  end

  # What a program prints. `MODEL.chat` yields what `MODEL.say` was given, until `MODEL.say(nil)`.
  def guide_output(code, pool: "fibers: 5", config: "")
    files = guide_files
    ruby = files.slice("db/migrate/20261128000000_create_messages.rb", "app/models/message.rb",
      "app/jobs/answer_job.rb", "app/controllers/messages_controller.rb", "config/routes.rb")
    jobs_output(<<~RUBY, config: "require 'action_view/railtie'; #{config}")
      require "pelton/http"
      class ApplicationRecord < ActiveRecord::Base
        self.abstract_class = true
      end
      ApplicationJob = Class.new(ActiveJob::Base)
      class ApplicationController < ActionController::Base
        skip_forgery_protection
        prepend_view_path "app/views"
      end
      FileUtils.mkdir_p("app/views/messages")
      File.write("app/views/messages/show.html.erb", #{files.fetch("app/views/messages/show.html.erb").dump})
      #{ruby.values.join("\n")}
      verbose, $stdout = $stdout, File.open(File::NULL, "w")
      CreateMessages.new.change
      $stdout = verbose
      class Model
        attr_reader :asked, :left
        def initialize = @pieces = Thread::Queue.new
        def say(*pieces) = pieces.each { |piece| @pieces << piece }
        def chat(_question)
          @asked = true
          while (piece = @pieces.pop)
            raise piece if piece.is_a?(Exception)
            yield piece
          end
        ensure
          @left = true
        end
      end
      MODEL = Model.new

      # Elements of Turbo, in short: without the state "running", whose place depends on when its reader came.
      def elements(text)
        found =
          text.scan(%r{<turbo-stream action="(\\w+)" target="message_1_content(\\w*)">(?:<template>(.*?)</template>)?}m)
        found.map do |action, target, html|
          (target == "_state") ? html[/data-state="(\\w+)"/, 1] : [action, html].compact.join(" ")
        end - ["running"]
      end

      # The events of a stream, as they come: in `events`, with the response that a client reads.
      def follow(url, last = nil)
        events = +""
        task =
          Pelton.spawn do
            Pelton::HTTP.get(url, stream: true, headers: last ? {"last-event-id" => last} : {}).each do |piece|
              events << piece
            end
          end
        events.define_singleton_method(:task) { task }
        events
      end

      with_worker(#{pool}) do |worker|
        Pelton.run do
          server = Pelton::HTTP::Server.new(TestApplication)
          url = "http://127.0.0.1:\#{server.listen("tcp://127.0.0.1:0").port}"
          #{code}
        ensure
          Pelton.stop
        end
      end
    RUBY
  end
end
