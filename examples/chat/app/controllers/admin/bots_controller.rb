# frozen_string_literal: true

module Admin
  class BotsController < BaseController
    def index
      @bots = Bot.order(:id).includes(:user).to_a
    end

    # The token is shown once.
    def create
      form = params.require(:bot).permit(:name, :webhook_url)
      @bot, @token = Bot.make(form[:name], form[:webhook_url])
      headers["cache-control"] = "no-store"
      index
      render :index, status: 201
    rescue Pelton::Record::Invalid => error
      redirect_to admin_bots_path, alert: error.message
    end

    # Its messages stay.
    def destroy
      bot = Bot.find(params.integer(:id))
      bot.user.active = false
      bot.destroy
      redirect_to admin_bots_path, notice: "#{bot.user.name} is removed."
    end
  end
end
