# frozen_string_literal: true

module Pelton
  module Web
    module Generators
      # `pelton generate channel`: a channel with its actions, and a test.
      # @private
      class Channel < Generator
        SUMMARY = "a channel for live pages, with its actions, and a test"
        USAGE = <<~TEXT
          usage: pelton generate channel NAME [ACTION ...] [options]

          Writes app/channels/NAME_channel.rb, test/channels/NAME_channel_test.rb, and, for the first channel, what it needs into the Gemfile,
          config/application.rb and config/routes.rb. Browsers perform the actions. For example:

            pelton generate channel room speak

        TEXT
        ARGUMENTS = (1..)
        # The methods of Pelton::Web::Channel, which is loaded by pelton/web/cable alone.
        TAKEN = %w[subscribed unsubscribed receive reject stream_from stream_for stop_stream_from stop_all_streams
          transmit broadcast connection identifier params
          answering send class method hash object_id].freeze
        private_constant :TAKEN

        def initialize(files, name, *actions)
          super(files)
          @name = Name.new(name.sub(/_?channel\z/i, ""), "channel")
          @actions = actions.uniq
          check_actions(@actions, TAKEN, "channels")
          check_constant("#{@name.constant}Channel", path)
        end

        def write
          write_template("channel/channel.rb", path)
          write_template("channel/test.rb", "test/channels/#{@name.path}_channel_test.rb")
          insert_cable unless @files.read("config/routes.rb").to_s.match?(/\.cable\b/)
        end

        private

        attr_reader :name, :actions

        def path = "app/channels/#{@name.path}_channel.rb"

        def stream = "#{@name.path.tr("/", ":")}:\#{params.integer(:id)}"

        def body
          methods = ["def subscribed = stream_from(stream)\n",
            *@actions.map do |action|
              "def #{action}(data) = broadcast(stream, {#{action}: data.string(:text, max: 2000)})\n"
            end]
          "#{methods.join("\n")}\nprivate\n\ndef stream = \"#{stream}\"\n"
        end

        def insert_cable
          @files.insert("Gemfile", "gem \"websocket-driver\", \"~> 0.8\", require: false # of the channels\n",
            after: /^gem "pelton-web".*\n/)
          @files.insert("config/application.rb", "require \"pelton/web/cable\"\n", after: %r{^require "pelton/web"\n})
          @files.insert("config/routes.rb", "  mount #{application}.cable, at: \"/cable\"\n",
            after: /^[ \t]*#{application}\.routes do[ \t]*\n/)
        end
      end
    end
  end
end
